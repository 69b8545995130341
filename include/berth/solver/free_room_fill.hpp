// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "berth/base/stop.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

/// Machines, and what a placement leaves of them and of the limits.
struct FreeCapacity {
  std::span<const MachineId> machines;                    ///< ascending
  const model::Placement& present;                        ///< tasks on other machines are ignored
  const planner_model::CouplingLimits* limits = nullptr;  ///< null: there are none
  std::span<const std::int64_t> use = {};                 ///< by limit: by all placed jobs
};

/// Places unplaced jobs into free capacity, as `fill_idle_capacity` and then `find_room` find it,
/// until no more of them has room. No other job moves; a job that would lose value is not placed.
/// Deterministic. O(jobs log jobs + machines x shapes), and O(domains) for each kind of jobs that has
/// room somewhere.
/// @return placements of some of the jobs, ascending job
model::Placement fill_free_room(const planner_model::Valuation& valuation,
                                const FreeCapacity& capacity, std::span<const JobId> jobs,
                                const StopToken& stop = {});

}  // namespace berth::solver
