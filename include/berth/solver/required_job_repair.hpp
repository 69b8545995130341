// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/base/stop.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/limit_usage.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

struct RequiredJobRepairOptions {
  std::int64_t machines = 64;  ///< larger clusters are left as they are
  int steps = 4000;            ///< placements tried for required jobs, at most
};

/// For small clusters where a required job was left out: looks for places for all required jobs
/// together, by backtracking over machines and domains, hardest jobs first. When it finds them,
/// the other jobs stay where there still is room, move, or are evicted, least value per GPU first;
/// else nothing is changed.
/// @param limits  quotas and uplinks of the whole cluster, kept; null when there are none
/// @param stop    nothing is changed after it
/// @return        true when `placement` (ascending job) was changed: no required job is missing
bool repair_required_jobs(const planner_model::Valuation& valuation,
                          const planner_model::CouplingLimits* limits, model::Placement& placement,
                          const RequiredJobRepairOptions& options = {}, const StopToken& stop = {});

}  // namespace berth::solver
