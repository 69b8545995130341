// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/model/placement.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/home_rack_prices.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::solver {

/// Plans the whole cluster anew: first the chosen jobs in their home racks, large ones first, then
/// those chosen for other places, then the others into idle capacity, then the local search.
/// Replaces the placement if more required jobs are placed, or as many and the value is larger. The
/// choice of `home_rack_prices` fills crowded home racks with the set of jobs that gains most
/// there, where a search that moves job by job stays with the first ones.
///
/// @param valuation  values without prices of limits
/// @param pools      prices order the candidates of the local search
/// @param placement  ascending; of all jobs that are not pinned
/// @pre no job of the workload may move; the workload has the records of all jobs
/// @return the value gained. Deterministic.
double plan_at_home(const planner_model::Valuation& valuation, const PricedPools& pools,
                    const HomeRackSolution& chosen, const SearchEffort& effort,
                    const RunContext& run, model::Placement& placement);

}  // namespace berth::solver
