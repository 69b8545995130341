// SPDX-License-Identifier: Apache-2.0
// The cheapest room that holds all tasks.
#include "exact.hpp"
#include "gang_cost.hpp"

#include <algorithm>
#include <functional>

namespace berth::certify {

using model::Level;

namespace {

constexpr std::int64_t kMostExpensive = std::int64_t{1} << 62;
constexpr std::size_t kFirst = 8;  // racks tried at first, then doubled; chosen, not tuned

}  // namespace

/// Least cost of one task where a GPU thousandth costs at least `price`.
Int128 GangCost::at_least(const EqualTasks& demand, std::int64_t price) {
  return std::min<Int128>(Int128{price} * demand.milli, kMostExpensive);
}

/// Cheapest pools first, at most what each holds. A price beyond kMostExpensive counts as that,
/// which only lowers the cost.
GangCost::FillCost GangCost::fill(std::span<const PricedDomain> places, GpuTypeId type,
                                  const EqualTasks& demand) {
  prices_and_room_.clear();
  for (const PricedDomain& place : places) {
    for (const PricedPool& pool : place.pools) {
      const std::int64_t most = most_in_pool(pool, demand);
      if (most == 0 || (demand.on_type && !of_type(pool, type))) continue;
      const Int128 price = std::min<Int128>(
          price_table_->task_within_limits(pool, demand.shape) + place.uplink_price,
          kMostExpensive);
      prices_and_room_.emplace_back(static_cast<std::int64_t>(price), most);
    }
  }
  std::ranges::make_heap(prices_and_room_, std::greater{});
  FillCost filled;
  std::int64_t left = demand.count;
  while (left > 0 && !prices_and_room_.empty()) {
    std::ranges::pop_heap(prices_and_room_, std::greater{});
    const auto [price, room] = prices_and_room_.back();
    prices_and_room_.pop_back();
    const std::int64_t taken = std::min(left, room);
    filled.cost += Int128{price} * taken;
    filled.highest_price = price;
    left -= taken;
  }
  if (left > 0) filled.cost = kImpossible;
  return filled;
}

/// Least cost in the whole cluster: in the cheapest racks only, as soon as a task costs in no other
/// rack less than in the most expensive of these.
Int128 GangCost::cost_in_cluster(GpuTypeId type, const EqualTasks& demand) {
  const auto racks = price_table_->racks_of(type);
  std::vector<PricedDomain> places;
  for (std::size_t most = kFirst;; most *= 2) {
    while (places.size() < std::min(most, racks.size())) {
      places.push_back({price_table_->in_rack(racks[places.size()].second), 0});
    }
    const FillCost filled = fill(places, type, demand);
    if (places.size() == racks.size()) return filled.cost;
    const Int128 others = at_least(demand, racks[places.size()].first);
    if (filled.cost < kImpossible && filled.highest_price <= others) return filled.cost;
  }
}

Int128 GangCost::cost_over(std::span<const PricedDomain> places, GpuTypeId type) {
  Int128 cost = 0;
  for (const EqualTasks& d : demands_) {
    const Int128 part = fill(places, type, d).cost;
    if (part == kImpossible) return kImpossible;
    cost += part;
  }
  return cost;
}

Int128 GangCost::cost_over_cluster(GpuTypeId type) {
  const PricedDomain everywhere{price_table_->pools(), 0};
  Int128 cost = 0;
  for (const EqualTasks& d : demands_) {
    const bool on_type = gpu_job_ && d.on_type;
    const Int128 part =
        on_type ? cost_in_cluster(type, d) : fill(std::span(&everywhere, 1), type, d).cost;
    if (part == kImpossible) return kImpossible;
    cost += part;
  }
  return cost;
}

Int128 GangCost::cost_over(std::span<const PricedPool> pools, GpuTypeId type) {
  const PricedDomain place{pools, 0};
  return cost_over(std::span(&place, 1), type);
}

/// The least cost over the places, visited by ascending price; stops when no later place can be
/// cheaper than the best so far.
template <class Id, class Cost>
Int128 GangCost::cheapest(std::span<const std::pair<std::int64_t, Id>> places,
                          const Cost& cost) const {
  Int128 least = kImpossible;
  for (const auto& [price, place] : places) {
    Int128 all = 0;
    for (const EqualTasks& d : demands_) all += at_least(d, price) * d.count;
    if (all >= least) break;
    least = std::min(least, cost(place));
  }
  return least;
}

Int128 GangCost::in_cheapest(GpuTypeId type, Level width) {
  if (width == Level::pod) {
    return cheapest(price_table_->pods_of(type), [&](PodId p) { return in_pod(type, width, p); });
  }
  return cheapest(price_table_->racks_of(type), [&](RackId r) { return in_rack(type, width, r); });
}

}  // namespace berth::certify
