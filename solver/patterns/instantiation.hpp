// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"

#include <span>
#include <vector>

#include "berth/model/placement.hpp"

namespace berth::solver {

/// Puts the patterns on machines (ascending id) and jobs (the best first) into them, device by
/// device; takes the room.
model::Placement instantiate(const PackingProblem& problem, const model::Workload& workload,
                             planner_model::Room& room, const Usage& usage);

/// Puts jobs into what is left, best first: required, value, priority, arrival, id; each on the
/// machine where it is worth most, among equals the fullest. Jobs with value 0 too.
/// O(shapes x machines log machines + jobs).
void fill_idle_capacity(const planner_model::Valuation& valuation, planner_model::Room& room,
                        std::span<const MachineId> machines, std::span<const JobId> jobs,
                        model::Placement& placed);

}  // namespace berth::solver
