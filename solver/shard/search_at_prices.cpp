// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/search_at_prices.hpp"

#include "shard/whole_start.hpp"

#include <utility>

namespace berth::solver {
namespace {

Occupancy with_placement(const planner_model::Valuation& valuation,
                         const planner_model::CouplingLimits* limits,
                         const model::Placement& placement) {
  Occupancy occupancy = without_placements(valuation, limits);
  for (const model::JobPlacement& placed : placement) occupancy.take(placed);
  return occupancy;
}

}  // namespace

double search_at_prices(const planner_model::Valuation& valuation, const SearchPrices& prices,
                        const SearchEffort& effort, const RunContext& run,
                        model::Placement& placement) {
  BestStart best(without_placements(valuation, run.limits), placement);
  Occupancy priced = with_placement(prices.valuation, prices.limits, placement);
  improve(priced, prices.pools, effort, run.stop);
  best.offer(with_placement(valuation, run.limits, priced.placement()), prices.pools, effort,
             run.stop);
  return best.write(placement);
}

}  // namespace berth::solver
