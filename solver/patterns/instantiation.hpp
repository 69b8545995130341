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

}  // namespace berth::solver
