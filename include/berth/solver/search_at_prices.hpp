// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/model/placement.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::solver {

/// Prices at which a search sees what jobs cost each other.
struct SearchPrices {
  const planner_model::Valuation& valuation;    ///< values less the prices of limits
  const planner_model::CouplingLimits* limits;  ///< charged with these prices; null: none
  PricedPools pools;                            ///< of machines
};

/// Searches on from a plan of the whole cluster at other prices, of a better bound: they show
/// regrets that the prices of the first search did not. The local search of the dive, first by
/// values less prices, then by values.
///
/// @param valuation  values without prices of limits
/// @param placement  ascending; of all jobs that are not pinned
/// @param run        limits of the plan
/// @pre the workload has the records of all jobs
/// @return the value gained
double search_at_prices(const planner_model::Valuation& valuation, const SearchPrices& prices,
                        const SearchEffort& effort, const RunContext& run,
                        model::Placement& placement);

/// Gangs change their GPU type, leave such a plan or enter it, where that gains in all
/// (`relocate_gangs`, decision 128); the local search of the dive goes on from there.
/// @param slack  value that the plan may gain by its bound
/// @return the value gained
double relocate_gangs_at_prices(const planner_model::Valuation& valuation,
                                const SearchPrices& prices, double slack,
                                const SearchEffort& effort, const RunContext& run,
                                model::Placement& placement);

}  // namespace berth::solver
