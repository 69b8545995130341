// SPDX-License-Identifier: Apache-2.0
// The contents of machines on which running jobs may stay.
#include "stay_gains.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace berth::certify {

using model::kResources;

namespace {

/// 0/1 knapsack: by number of devices, the most that jobs which stay earn on at most so many,
/// less what their resources would earn.
std::vector<Int128> by_devices_taken(const PricedPool& pool, const Multiplier& multiplier,
                                     std::span<const StayItem> stays, std::size_t devices) {
  std::vector<Int128> most(devices + 1, 0);
  for (const StayItem& stay : stays) {
    Int128 earns = stay.pays;
    for (std::size_t r = 0; r < kResources; ++r) {
      earns -= (Int128{pool.price.resources[r]} + multiplier.unit_price[r]) * stay.needs[r];
    }
    if (earns <= 0) continue;
    const auto width = static_cast<std::size_t>(stay.devices);
    for (std::size_t g = devices + 1; g-- > width;) {
      most[g] = std::max(most[g], most[g - width] + earns);
    }
  }
  return most;
}

}  // namespace

Int128 MachineProfitBound::with_stays(const PricedPool& pool,
                                      std::span<const StayItem> stays) const {
  Int128 by_price = (*this)(pool);  // each in place of equal tasks
  for (const StayItem& stay : stays) by_price += std::max<Int128>(0, stay.pays - stay.task_prices);
  const std::vector<Int128> tasks = by_devices(pool);
  const std::size_t devices = tasks.size() - 1;
  const auto taken =
      by_devices_taken(pool, terms_[pool.variant.index()].multiplier, stays, devices);
  Int128 most = 0;
  for (std::size_t g = 0; g <= devices; ++g) most = std::max(most, taken[g] + tasks[devices - g]);
  return std::min(by_price, beyond_devices(pool) + most);
}

std::vector<MachineGain> stay_gains(const PriceTable& price_table, const MachineProfitBound& worth,
                                    std::span<const StayItem> items) {
  std::vector<StayItem> sorted(items.begin(), items.end());
  std::ranges::sort(sorted, [](const StayItem& a, const StayItem& b) {
    return std::tie(a.machine, a.job) < std::tie(b.machine, b.job);
  });
  std::vector<MachineGain> gains;
  for (std::span<const StayItem> rest = sorted; !rest.empty();) {
    const MachineId machine = rest.front().machine;
    const auto next =
        std::ranges::find_if(rest, [&](const StayItem& s) { return s.machine != machine; });
    const auto here = rest.first(static_cast<std::size_t>(next - rest.begin()));
    const PricedPool& pool = price_table.at(machine);
    gains.push_back({machine, pool.type, worth.with_stays(pool, here) - worth(pool)});
    rest = rest.subspan(here.size());
  }
  return gains;
}

}  // namespace berth::certify
