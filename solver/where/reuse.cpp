// SPDX-License-Identifier: Apache-2.0
// The parts of the dive that others call on their own placements.
#include "where/chains.hpp"
#include "where/floor.hpp"
#include "where/menu.hpp"
#include "where/recut.hpp"
#include "where/refill.hpp"
#include "where/trade.hpp"

#include <algorithm>
#include <iterator>

#include "berth/base/assert.hpp"
#include "berth/solver/dive.hpp"

namespace berth::solver {
namespace {

where::Berths berths_of(std::span<const JobId> unplaced, model::Placement placed) {
  where::Berths berths;
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
  const where::Yard yard(instance.cluster, pools);
  const where::Menu menu(valuation, yard, unplaced);
  where::Floor floor(instance, yard, room, machines);
  where::Berths berths = where::no_berths(unplaced);
  where::refill(valuation, menu, floor, berths);

  model::Placement joined;
  std::ranges::merge(placed, where::placement_of(berths), std::back_inserter(joined), {},
                     &model::JobPlacement::job, &model::JobPlacement::job);
  placed = std::move(joined);
  unplaced = where::unplaced_of(berths);
}

double improve(const model::Valuation& valuation, const model::Pools& pools, model::Room& room,
               std::span<const MachineId> machines, std::vector<JobId>& unplaced,
               model::Placement& placed, std::span<const double> prices, const SearchEffort& effort,
               const StopToken& stop, model::Ledger* ledger) {
  BERTH_EXPECT(prices.size() == pools.size());
  const model::Instance& instance = valuation.instance();
  where::Berths berths = berths_of(unplaced, std::move(placed));
  if (ledger != nullptr && ledger->limits() != nullptr) berths.ledger = ledger;
  const where::Yard yard(instance.cluster, pools);
  const where::Menu menu(valuation, yard, berths.jobs);
  where::Floor floor(instance, yard, room, machines);
  double gained = where::Recut(valuation, menu, floor, berths).run(effort.cuts, stop);
  gained += where::Chains(valuation, menu, floor, berths, prices).run(effort.chains, stop);
  placed = where::placement_of(berths);
  unplaced = where::unplaced_of(berths);
  return gained;
}

double trade(const model::Valuation& valuation, const model::Pools& pools,
             std::vector<JobId>& unplaced, model::Placement& placed, const StopToken& stop,
             const model::Limits* limits) {
  model::Ledger ledger(valuation.instance(), limits);
  for (const model::JobPlacement& p : placed) ledger.add(p);
  where::Berths berths = berths_of(unplaced, std::move(placed));
  if (ledger.limits() != nullptr) berths.ledger = &ledger;
  const where::Yard yard(valuation.instance().cluster, pools);
  const where::Menu menu(valuation, yard, berths.jobs);
  double gained = 0.0;
  for (where::Trade& trade : where::make_trades(valuation, menu, yard, berths)) {
    // What one kind frees no other takes: whoever trades them elsewhere finds the same.
    for (std::size_t l = 0; l < ledger.size(); ++l) ledger.allow(l, ledger.use(l));
    if (!stop.requested()) gained += trade.settle();
  }
  placed = where::placement_of(berths);
  unplaced = where::unplaced_of(berths);
  return gained;
}

}  // namespace berth::solver
