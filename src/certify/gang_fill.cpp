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

/// Least cost of one task where a GPU thousandth costs at least `price`. What machines are worth
/// need not contain the price of its shape.
Int128 GangCost::at_least(const EqualTasks& demand, GpuTypeId type, std::int64_t price,
                          Payment payment) const {
  Int128 least = Int128{price} * demand.milli;
  if (payment == Payment::tasks && demand.on_type) {
    least += price_table_->shape_price(demand.shape, type);
  }
  return std::min<Int128>(least, kMostExpensive);
}

/// The number of tasks whose room is paid for. Machines of an exclusive job are paid for entirely:
/// where each holds a multiple of k tasks, so is the number that all of them hold.
std::int64_t GangCost::tasks_to_fill(const EqualTasks& demand, GpuTypeId type,
                                     Payment payment) const {
  if (payment == Payment::tasks || ruled_) return demand.count;
  const bool any = !gpu_job_ || !demand.on_type;
  const std::int64_t step =
      any ? demand.per_machine_step.back() : demand.per_machine_step[type.index()];
  return step == 0 ? demand.count : (demand.count + step - 1) / step * step;
}

/// Cheapest pools first, at most what each holds. A price beyond kMostExpensive counts as that,
/// which only lowers the cost.
GangCost::FillCost GangCost::fill(std::span<const PricedDomain> places, GpuTypeId type,
                                  const EqualTasks& demand, Payment payment) {
  prices_and_room_.clear();
  std::int64_t left = tasks_to_fill(demand, type, payment);
  const bool limits = left == demand.count;  // room without a task pays for machines only
  for (const PricedDomain& place : places) {
    for (const PricedPool& pool : place.pools) {
      const std::int64_t most = most_in_pool(pool, demand, left);
      if (most == 0 || (demand.on_type && !of_type(pool, type))) continue;
      Int128 price = payment == Payment::tasks
                         ? price_table_->task(pool, demand.shape)
                         : pool.worth / demand.per_machine[pool.variant.index()];
      if (limits) price += price_table_->limits_of_task(pool, demand.shape) + place.uplink_price;
      price = std::min<Int128>(price, kMostExpensive);
      prices_and_room_.emplace_back(static_cast<std::int64_t>(price), most);
    }
  }
  std::ranges::make_heap(prices_and_room_, std::greater{});
  FillCost filled;
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
Int128 GangCost::cost_in_cluster(GpuTypeId type, const EqualTasks& demand, Payment payment) {
  const auto racks = price_table_->racks_of(type);
  std::vector<PricedDomain> places;
  for (std::size_t most = kFirst;; most *= 2) {
    while (places.size() < std::min(most, racks.size())) {
      places.push_back({price_table_->in_rack(racks[places.size()].second), 0});
    }
    const FillCost filled = fill(places, type, demand, payment);
    if (places.size() == racks.size()) return filled.cost;
    const Int128 others = at_least(demand, type, racks[places.size()].first, payment);
    if (filled.cost < kImpossible && filled.highest_price <= others) return filled.cost;
  }
}

/// The sum of cost(tasks, payment) over the tasks of the job. An exclusive job pays for its
/// machines: at least that sum, and at least what the machines of any one kind of its tasks are
/// worth.
template <class Cost>
Int128 GangCost::sum_of_tasks(const Cost& cost) {
  Int128 sum = 0, most = 0;
  for (const EqualTasks& d : demands_) {
    const Int128 part = cost(d, Payment::tasks);
    if (part == kImpossible) return kImpossible;
    sum += part;
    if (exclusive_) most = std::max(most, cost(d, Payment::machines));
  }
  return std::max(sum, most);
}

Int128 GangCost::cost_over(std::span<const PricedDomain> places, GpuTypeId type) {
  return sum_of_tasks(
      [&](const EqualTasks& d, Payment payment) { return fill(places, type, d, payment).cost; });
}

Int128 GangCost::cost_over_cluster(GpuTypeId type) {
  const PricedDomain everywhere{price_table_->pools(), 0};
  return sum_of_tasks([&](const EqualTasks& d, Payment payment) {
    return gpu_job_ && d.on_type ? cost_in_cluster(type, d, payment)
                                 : fill(std::span(&everywhere, 1), type, d, payment).cost;
  });
}

Int128 GangCost::cost_over(std::span<const PricedPool> pools, GpuTypeId type) {
  const PricedDomain place{pools, 0};
  return cost_over(std::span(&place, 1), type);
}

/// The least cost over the places, visited by ascending price; stops when no later place can be
/// cheaper than the best so far.
template <class Id, class Cost>
Int128 GangCost::cheapest(std::span<const std::pair<std::int64_t, Id>> places, GpuTypeId type,
                          const Cost& cost) const {
  const Payment payment = exclusive_ ? Payment::machines : Payment::tasks;
  Int128 least = kImpossible;
  for (const auto& [price, place] : places) {
    Int128 all = 0;
    for (const EqualTasks& d : demands_) all += at_least(d, type, price, payment) * d.count;
    if (all >= least) break;
    least = std::min(least, cost(place));
  }
  return least;
}

/// False when the tasks ask for more GPU thousandths than any domain of this width has free.
bool GangCost::may_fit(GpuTypeId type, Level width) const {
  Int128 milli = 0;
  for (const EqualTasks& d : demands_) {
    if (d.on_type) milli += Int128{d.milli} * d.count;
  }
  return milli <= price_table_->most_milli(type, width);
}

Int128 GangCost::in_cheapest(GpuTypeId type, Level width) {
  if (!may_fit(type, width)) return kImpossible;
  if (width == Level::pod) {
    return cheapest(price_table_->pods_of(type), type,
                    [&](PodId p) { return in_pod(type, width, p); });
  }
  return cheapest(price_table_->racks_of(type), type,
                  [&](RackId r) { return in_rack(type, width, r); });
}

}  // namespace berth::certify
