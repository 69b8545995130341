// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/search_at_prices.hpp"

#include "local_search/gang_relocation.hpp"
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

double relocate_gangs_at_prices(const planner_model::Valuation& valuation,
                                const SearchPrices& prices, double slack,
                                const SearchEffort& effort, const RunContext& run,
                                model::Placement& placement) {
  Occupancy found = with_placement(valuation, run.limits, placement);
  if (local_search::relocate_gangs(found, prices, slack, run.stop) <= 0.0) return 0.0;
  BestStart best(without_placements(valuation, run.limits), placement);
  best.offer(std::move(found), prices.pools, effort, run.stop);
  return best.write(placement);
}

}  // namespace berth::solver
