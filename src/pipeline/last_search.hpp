// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "prove.hpp"
#include "relax.hpp"
#include "tighten.hpp"

#include "berth/model/placement.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::pipeline {

/// Of a plan of the whole cluster by values without prices of limits.
solver::RunContext whole_run(const PlanningContext& context, const GlobalRelaxation& relaxation);

/// Searches at the prices of the proof: the local search goes on, then plans start anew, then gangs
/// are relocated. Returns the value gained. @pre no job has a price of its own
double search_at_last_prices(const PlanningContext& context, const GlobalRelaxation& relaxation,
                             const Proof& proof, const TightenGoal& goal,
                             model::Placement& placement);

}  // namespace berth::pipeline
