// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"

#include <span>
#include <vector>

#include "berth/model/placement.hpp"

namespace berth::solver {

/// Assigns the copies of the patterns to machines (ascending id) and jobs to their tasks (in the
/// order of JobType::jobs), device by device. Takes the room of the placed jobs.
model::Placement instantiate(const PackingProblem& problem, const model::WorkloadView& workload,
                             planner_model::Room& room, const Usage& usage);

/// Places jobs, also those of value 0, into the remaining room by precedence (required, value,
/// priority, arrival, id), each on the machine where its value is largest; ties on the fullest
/// machine. Adds them to `placed`. O(shapes x machines log machines + jobs).
void fill_idle_capacity(const planner_model::Valuation& valuation, planner_model::Room& room,
                        std::span<const MachineId> machines, std::span<const JobId> jobs,
                        model::Placement& placed);

}  // namespace berth::solver
