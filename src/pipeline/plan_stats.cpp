// SPDX-License-Identifier: Apache-2.0
#include "plan_stats.hpp"

#include <algorithm>
#include <cstdint>

#include <sys/resource.h>

namespace berth::pipeline {
namespace {

/// Number of leaves of the case tree; 0 without a tree.
std::int64_t leaves_of(const model::BoundTree& tree) {
  return std::ranges::count_if(tree.nodes, [&](const auto& n) { return !n.split.valid(); });
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace

std::map<std::string, double> plan_stats(const PlanningContext& context,
                                         const LocalSolution& solution,
                                         const GlobalPlacement& placed,
                                         const model::BoundTree& tree) {
  return {{"evaluations", solution.relaxation.consensus.evaluations},
          {"pools", static_cast<double>(context.pools.size())},
          {"shards", static_cast<double>(context.shards.size())},
          {"ranks", context.comm.size()},
          {"jobs_per_rank", static_cast<double>(placed.most_jobs)},
          {"rounds", placed.rounds},
          {"leaves", static_cast<double>(leaves_of(tree))},
          {"spanning_gangs", static_cast<double>(placed.spanning)},
          {"peak_memory_mib", context.comm.max_seconds(peak_memory_mib())}};
}

}  // namespace berth::pipeline
