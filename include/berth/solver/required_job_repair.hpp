// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/base/stop.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/limit_usage.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

struct RequiredJobRepairOptions {
  std::int64_t machines = 64;  ///< larger clusters are not repaired: decision 11
  int steps = 4000;            ///< most placements of required jobs tried: decision 11
};

/// Repairs a plan of a small cluster in which a required job is unplaced: places all required jobs
/// by backtracking over machines and domains, hardest jobs first (fail first: Haralick and Elliott
/// 1980). If that succeeds, the other jobs keep their places where there is room, move, or are
/// evicted by ascending value per GPU; otherwise `placement` does not change.
/// @param limits  of the whole cluster, which are kept; null: no limits
/// @param stop    after a stop `placement` does not change
/// @return        true when `placement` (ascending job) changed; it then has all required jobs
bool repair_required_jobs(const planner_model::Valuation& valuation,
                          const planner_model::CouplingLimits* limits, model::Placement& placement,
                          const RequiredJobRepairOptions& options = {}, const StopToken& stop = {});

}  // namespace berth::solver
