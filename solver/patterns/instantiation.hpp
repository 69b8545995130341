// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"

#include <span>
#include <vector>

#include "berth/model/placement.hpp"

namespace berth::solver {

/// Assigns the copies of the patterns to machines (ascending id) and jobs to their tasks, device by
/// device: single tasks in the order of JobType::jobs; with gangs among them whole jobs
/// (`select_gangs`), and places that no whole job uses stay free. Takes the room of the placed
/// jobs.
model::Placement instantiate(const PackingProblem& problem,
                             const planner_model::Valuation& valuation, planner_model::Room& room,
                             const Usage& usage);

}  // namespace berth::solver
