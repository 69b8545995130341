// SPDX-License-Identifier: Apache-2.0
// The parts of the dive that others call on their own placements.
#include "assignment/free_pools.hpp"
#include "assignment/option_table.hpp"
#include "local_search/cyclic_exchange.hpp"
#include "local_search/ejection_chains.hpp"
#include "local_search/fill.hpp"
#include "local_search/machine_repartition.hpp"

#include <algorithm>
#include <iterator>

#include "berth/base/assert.hpp"
#include "berth/solver/dive.hpp"

namespace berth::solver {
namespace {

local_search::Berths berths_of(std::span<const JobId> unplaced, model::Placement placed) {
  local_search::Berths berths;
  for (const JobId j : unplaced) berths.placed.push_back({.job = j, .tasks = {}});
  std::ranges::move(placed, std::back_inserter(berths.placed));
  std::ranges::sort(berths.placed, {}, &model::JobPlacement::job);
  for (const model::JobPlacement& p : berths.placed) berths.jobs.push_back(p.job);
  return berths;
}

}  // namespace

void fill(const model::Valuation& valuation, model::Room& room, std::span<const MachineId> machines,
          std::vector<JobId>& unplaced, model::Placement& placed) {
  const model::Instance& instance = valuation.instance();
  const model::Pools pools = model::make_pools(instance.cluster, model::Level::rack);
  const assignment::PoolIndex pool_index(instance.cluster, pools);
  const assignment::OptionTable option_table(valuation, pool_index, unplaced);
  assignment::FreePools free_pools(instance, pool_index, room, machines);
  local_search::Berths berths = local_search::no_berths(unplaced);
  local_search::refill(valuation, option_table, free_pools, berths);

  model::Placement joined;
  std::ranges::merge(placed, local_search::placement_of(berths), std::back_inserter(joined), {},
                     &model::JobPlacement::job, &model::JobPlacement::job);
  placed = std::move(joined);
  unplaced = local_search::unplaced_of(berths);
}

double improve(const model::Valuation& valuation, const model::Pools& pools, model::Room& room,
               std::span<const MachineId> machines, std::vector<JobId>& unplaced,
               model::Placement& placed, std::span<const double> prices, const SearchEffort& effort,
               const StopToken& stop, model::Ledger* ledger) {
  BERTH_EXPECT(prices.size() == pools.size());
  const model::Instance& instance = valuation.instance();
  local_search::Berths berths = berths_of(unplaced, std::move(placed));
  if (ledger != nullptr && ledger->limits() != nullptr) berths.ledger = ledger;
  const assignment::PoolIndex pool_index(instance.cluster, pools);
  const assignment::OptionTable option_table(valuation, pool_index, berths.jobs);
  assignment::FreePools free_pools(instance, pool_index, room, machines);
  double gained =
      local_search::Recut(valuation, option_table, free_pools, berths).run(effort.cuts, stop);
  gained += local_search::Chains(valuation, option_table, free_pools, berths, prices)
                .run(effort.chains, stop);
  placed = local_search::placement_of(berths);
  unplaced = local_search::unplaced_of(berths);
  return gained;
}

double trade(const model::Valuation& valuation, const model::Pools& pools,
             std::vector<JobId>& unplaced, model::Placement& placed, const StopToken& stop,
             const model::Limits* limits) {
  model::Ledger ledger(valuation.instance(), limits);
  for (const model::JobPlacement& p : placed) ledger.add(p);
  local_search::Berths berths = berths_of(unplaced, std::move(placed));
  if (ledger.limits() != nullptr) berths.ledger = &ledger;
  const assignment::PoolIndex pool_index(valuation.instance().cluster, pools);
  const assignment::OptionTable option_table(valuation, pool_index, berths.jobs);
  double gained = 0.0;
  for (local_search::Trade& trade :
       local_search::make_trades(valuation, option_table, pool_index, berths)) {
    // What one kind frees no other takes: whoever trades them elsewhere finds the same.
    for (std::size_t l = 0; l < ledger.size(); ++l) ledger.allow(l, ledger.use(l));
    if (!stop.requested()) gained += trade.settle();
  }
  placed = local_search::placement_of(berths);
  unplaced = local_search::unplaced_of(berths);
  return gained;
}

}  // namespace berth::solver
