// SPDX-License-Identifier: Apache-2.0
#include "compact.hpp"

#include <ClpSimplex.hpp>

namespace berth::peers {

// Rows are nodes: a job sends <= its GPUs, a hub receives <= what it sends, a rack receives <= its
// GPUs.
Answer solve_clp(const Graph& graph, double time_limit) {
  const std::size_t jobs = graph.job_gpus.size();
  std::vector<CoinBigIndex> start{0};
  std::vector<int> row;
  std::vector<double> entry, value;
  for (const Graph::Arc& a : graph.arcs) {
    const bool from_job = static_cast<std::size_t>(a.from) < jobs;
    row.insert(row.end(), {a.from, a.to});
    entry.insert(entry.end(), {from_job ? 1.0 : -1.0, 1.0});
    start.push_back(static_cast<CoinBigIndex>(row.size()));
    value.push_back(a.value);
  }
  std::vector<double> upper(graph.job_gpus.begin(), graph.job_gpus.end());
  upper.resize(jobs + static_cast<std::size_t>(graph.hubs), 0.0);
  upper.insert(upper.end(), graph.rack_gpus.begin(), graph.rack_gpus.end());
  ClpSimplex clp;
  clp.setLogLevel(0);
  clp.loadProblem(static_cast<int>(value.size()), static_cast<int>(upper.size()), start.data(),
                  row.data(), entry.data(), nullptr, nullptr, value.data(), nullptr, upper.data());
  clp.setOptimizationDirection(-1.0);
  clp.setMaximumSeconds(time_limit);
  ClpSolve how;  // default presolve and method
  clp.initialSolve(how);
  return {clp.objectiveValue(), clp.isProvenOptimal()};
}

}  // namespace berth::peers
