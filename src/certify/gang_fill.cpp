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
constexpr std::size_t kFirst = 8;  // racks to look at

}  // namespace

/// What each task costs at least where no GPU thousandth costs less than `price`.
Int128 GangCost::at_least(const Demand& demand, std::int64_t price) {
  return std::min<Int128>(Int128{price} * demand.milli, kMostExpensive);
}

/// Cheapest pools first, at most what each holds. A price beyond kMostExpensive counts as that,
/// which only lowers the cost.
GangCost::Filled GangCost::fill(std::span<const Place> places, GpuTypeId type,
                                const Demand& demand) {
  offers_.clear();
  for (const Place& place : places) {
    for (const PricedPool& pool : place.pools) {
      const std::int64_t room = demand.per_machine[pool.variant.index()];
      if (room == 0 || (demand.on_type && !of_type(pool, type))) continue;
      const Int128 price = std::min<Int128>(
          price_table_->task(pool, demand.shape) + place.uplink_price, kMostExpensive);
      const bool all = pool.machines >= demand.count || room >= demand.count;
      offers_.emplace_back(static_cast<std::int64_t>(price),
                           all ? demand.count : std::min(demand.count, room * pool.machines));
    }
  }
  std::ranges::make_heap(offers_, std::greater{});
  Filled filled;
  std::int64_t left = demand.count;
  while (left > 0 && !offers_.empty()) {
    std::ranges::pop_heap(offers_, std::greater{});
    const auto [price, room] = offers_.back();
    offers_.pop_back();
    const std::int64_t taken = std::min(left, room);
    filled.cost += Int128{price} * taken;
    filled.dearest = price;
    left -= taken;
  }
  if (left > 0) filled.cost = kImpossible;
  return filled;
}

/// In the whole cluster: in the cheapest racks alone, when a task costs no less in any other than
/// the dearest of these.
Int128 GangCost::fill_cluster(GpuTypeId type, const Demand& demand) {
  const auto racks = price_table_->racks_of(type);
  std::vector<Place> places;
  for (std::size_t most = kFirst;; most *= 2) {
    while (places.size() < std::min(most, racks.size())) {
      places.push_back({price_table_->in_rack(racks[places.size()].second), 0});
    }
    const Filled filled = fill(places, type, demand);
    if (places.size() == racks.size()) return filled.cost;
    const Int128 others = at_least(demand, racks[places.size()].first);
    if (filled.cost < kImpossible && filled.dearest <= others) return filled.cost;
  }
}

Int128 GangCost::spread_over(std::span<const Place> places, GpuTypeId type) {
  Int128 cost = 0;
  for (const Demand& d : demands_) {
    const Int128 part = fill(places, type, d).cost;
    if (part == kImpossible) return kImpossible;
    cost += part;
  }
  return cost;
}

Int128 GangCost::spread_over_cluster(GpuTypeId type) {
  const Place everywhere{price_table_->pools(), 0};
  Int128 cost = 0;
  for (const Demand& d : demands_) {
    const bool on_type = gpu_job_ && d.on_type;
    const Int128 part =
        on_type ? fill_cluster(type, d) : fill(std::span(&everywhere, 1), type, d).cost;
    if (part == kImpossible) return kImpossible;
    cost += part;
  }
  return cost;
}

Int128 GangCost::spread_over(std::span<const PricedPool> pools, GpuTypeId type) {
  const Place place{pools, 0};
  return spread_over(std::span(&place, 1), type);
}

/// The least cost in any of the places, up to where the tasks cannot cost less than what was found.
template <class Id, class Cost>
Int128 GangCost::cheapest(std::span<const std::pair<std::int64_t, Id>> places,
                          const Cost& cost) const {
  Int128 least = kImpossible;
  for (const auto& [price, place] : places) {
    Int128 all = 0;
    for (const Demand& d : demands_) all += at_least(d, price) * d.count;
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
