// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "berth/base/stop.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

/// Chosen, not tuned: in smaller instances the search mostly ends before the limit of steps.
struct ExactSearchOptions {
  std::int64_t gpus = 64;       ///< larger clusters are searched only for `few_jobs`
  std::int64_t jobs = 200;      ///< more jobs are not searched
  std::int64_t few_jobs = 30;   ///< so few jobs are searched up to twice `gpus`
  std::int64_t steps = 50'000;  ///< most placements of jobs tried; 0: no search

  [[nodiscard]] bool takes(std::int64_t cluster_gpus, std::int64_t workload_jobs) const {
    if (cluster_gpus <= gpus) return workload_jobs <= jobs;
    return cluster_gpus <= 2 * gpus && workload_jobs <= few_jobs;
  }
  /// A count of steps, reduced where each takes longer than with `gpus` GPUs.
  [[nodiscard]] std::int64_t within_size(std::int64_t count, std::int64_t cluster_gpus) const {
    return cluster_gpus <= gpus ? count : std::max<std::int64_t>(1, count * gpus / cluster_gpus);
  }
};

struct ExactSearchResult {
  bool improved = false;   ///< the placement changed; its objective is larger
  bool complete = false;   ///< the search ended before the limit of steps
  std::int64_t steps = 0;  ///< placements of jobs tried
};

/// Depth-first branch and bound over the placements of all jobs of a small instance (Land and Doig
/// 1960), largest jobs first. Equal machines and racks are interchangeable: one of several
/// equivalent placements is tried, and equal states with as much value before are not searched
/// again. A subtree is closed by Lagrangian bounds of aggregate resources, of each GPU type, with
/// dual-feasible functions for tasks of more than half, a third, .. of a machine (Fekete and
/// Schepers 2001). Devices of shares are chosen by best fit, not enumerated.
/// @param valuation  of the objective, without prices of limits
/// @param limits     of the whole cluster, kept; soft ones cost their penalty; null: no limits
/// @param placement  ascending job; it changes if a better one is found: more required jobs, or as
///                   many and a larger objective
/// @param stop       after a stop the best placement found so far is kept
/// Deterministic. O(steps x machines) time.
ExactSearchResult search_exactly(const planner_model::Valuation& valuation,
                                 const planner_model::CouplingLimits* limits,
                                 model::Placement& placement, const ExactSearchOptions& options,
                                 const StopToken& stop = {});

}  // namespace berth::solver
