// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Plain C++17, because LEMON's file includes it.
namespace berth::peers {

/// Whole jobs in racks as a flow of GPUs, with one node for all racks of equal value to a job: max
/// sum value x flow; a job sends at most its GPUs, a rack receives at most its own, a hub (GPU
/// type) keeps none. The optimum equals that of the dense graph with an arc per job and rack.
struct Graph {
  struct Arc {
    std::int32_t from = 0, to = 0;  ///< nodes: jobs, then hubs, then racks
    double value = 0.0;             ///< per GPU
  };
  std::vector<std::int64_t> job_gpus;
  std::int32_t hubs = 0;
  std::vector<std::int64_t> rack_gpus;
  std::vector<Arc> arcs;

  std::int32_t hub(std::size_t h) const { return static_cast<std::int32_t>(job_gpus.size() + h); }
  std::int32_t rack(std::size_t r) const {
    return static_cast<std::int32_t>(job_gpus.size() + static_cast<std::size_t>(hubs) + r);
  }
  std::size_t nodes() const {
    return job_gpus.size() + static_cast<std::size_t>(hubs) + rack_gpus.size();
  }
};

/// Result of a solver.
struct Answer {
  double value = 0.0;
  bool finished = true;  ///< false: stopped by the time limit
};

Answer solve_lemon(const Graph& graph);
Answer solve_clp(const Graph& graph, double time_limit);
Answer solve_glpk(const Graph& graph, double time_limit);

}  // namespace berth::peers
