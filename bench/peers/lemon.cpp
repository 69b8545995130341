// SPDX-License-Identifier: Apache-2.0
// C++17: LEMON 1.3.1 uses std::allocator members that C++20 removed.
#include "compact.hpp"

#include <cmath>
#include <numeric>

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

namespace berth::peers {
namespace {

constexpr double kScale = 1e9;  // network simplex needs integer costs; 9 digits of a value per GPU

using lemon::SmartDigraph;

}  // namespace

// All GPUs of all jobs reach one sink: through a rack, or directly with value 0.
Answer solve_lemon(const Graph& graph) {
  SmartDigraph digraph;
  digraph.reserveNode(static_cast<int>(graph.nodes()) + 1);
  digraph.reserveArc(
      static_cast<int>(graph.arcs.size() + graph.job_gpus.size() + graph.rack_gpus.size()));
  for (std::size_t n = 0; n <= graph.nodes(); ++n) digraph.addNode();
  const auto sink = SmartDigraph::nodeFromId(static_cast<int>(graph.nodes()));
  SmartDigraph::ArcMap<std::int64_t> cost(digraph, 0);
  SmartDigraph::ArcMap<std::int64_t> upper(digraph);
  SmartDigraph::NodeMap<std::int64_t> supply(digraph, 0);
  const std::int64_t total =
      std::accumulate(graph.job_gpus.begin(), graph.job_gpus.end(), std::int64_t{0});
  for (const Graph::Arc& a : graph.arcs) {
    const auto arc =
        digraph.addArc(SmartDigraph::nodeFromId(a.from), SmartDigraph::nodeFromId(a.to));
    cost[arc] = -std::llround(a.value * kScale);
    upper[arc] = total;
  }
  for (std::size_t j = 0; j < graph.job_gpus.size(); ++j) {
    const auto node = SmartDigraph::nodeFromId(static_cast<int>(j));
    supply[node] = graph.job_gpus[j];
    upper[digraph.addArc(node, sink)] = graph.job_gpus[j];
  }
  for (std::size_t r = 0; r < graph.rack_gpus.size(); ++r) {
    upper[digraph.addArc(SmartDigraph::nodeFromId(graph.rack(r)), sink)] = graph.rack_gpus[r];
  }
  supply[sink] = -total;
  lemon::NetworkSimplex<SmartDigraph, std::int64_t, std::int64_t> simplex(digraph);
  simplex.upperMap(upper).costMap(cost).supplyMap(supply);
  const bool optimal = simplex.run() == decltype(simplex)::OPTIMAL;
  return {-simplex.totalCost<double>() / kScale, optimal};
}

}  // namespace berth::peers
