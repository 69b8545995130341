// SPDX-License-Identifier: Apache-2.0
// The contents of machines on which running jobs may stay.
#include "stay_gains.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

namespace berth::certify {

using model::kResources;

namespace {

/// 0/1 knapsack: by number of devices, the most that jobs which stay earn on at most so many,
/// less what their resources would earn.
/// @param taken  null, or by item and number of devices: the item is in the best set of the items
///               up to it
std::vector<Int128> by_devices_taken(const PricedPool& pool, const Multiplier& multiplier,
                                     std::span<const StayItem> stays, std::size_t devices,
                                     std::vector<std::vector<bool>>* taken = nullptr) {
  std::vector<Int128> most(devices + 1, 0);
  if (taken != nullptr) taken->assign(stays.size(), std::vector<bool>(devices + 1));
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const StayItem& stay = stays[i];
    Int128 earns = stay.pays;
    for (std::size_t r = 0; r < kResources; ++r) {
      earns -= (Int128{pool.price.resources[r]} + multiplier.unit_price[r]) * stay.needs[r];
    }
    if (earns <= 0) continue;
    const auto width = static_cast<std::size_t>(stay.devices);
    for (std::size_t g = devices + 1; g-- > width;) {
      const Int128 with = most[g - width] + earns;
      if (with <= most[g]) continue;
      most[g] = with;
      if (taken != nullptr) (*taken)[i][g] = true;
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

std::vector<JobId> MachineProfitBound::kept(const PricedPool& pool,
                                            std::span<const StayItem> stays) const {
  const std::vector<Int128> tasks = by_devices(pool);
  const std::size_t devices = tasks.size() - 1;
  std::vector<std::vector<bool>> taken;
  const auto most =
      by_devices_taken(pool, terms_[pool.variant.index()].multiplier, stays, devices, &taken);
  std::size_t best = 0;
  for (std::size_t g = 1; g <= devices; ++g) {
    if (most[g] + tasks[devices - g] > most[best] + tasks[devices - best]) best = g;
  }
  std::vector<JobId> jobs;
  for (std::size_t i = stays.size(); i-- > 0;) {
    if (!taken[i][best]) continue;
    jobs.push_back(stays[i].job);
    best -= static_cast<std::size_t>(stays[i].devices);
  }
  return jobs;
}

namespace {

/// By ascending machine, then job.
std::vector<StayItem> by_machine(std::span<const StayItem> items) {
  std::vector<StayItem> sorted(items.begin(), items.end());
  std::ranges::sort(sorted, [](const StayItem& a, const StayItem& b) {
    return std::tie(a.machine, a.job) < std::tie(b.machine, b.job);
  });
  return sorted;
}

/// Calls visit with the items of each machine. @param sorted  by machine
template <class Visit>
void for_each_machine(std::span<const StayItem> sorted, const Visit& visit) {
  while (!sorted.empty()) {
    const MachineId machine = sorted.front().machine;
    const auto next =
        std::ranges::find_if(sorted, [&](const StayItem& s) { return s.machine != machine; });
    const auto here = sorted.first(static_cast<std::size_t>(next - sorted.begin()));
    visit(machine, here);
    sorted = sorted.subspan(here.size());
  }
}

}  // namespace

std::vector<MachineGain> stay_gains(const PriceTable& price_table, const MachineProfitBound& worth,
                                    std::span<const StayItem> items) {
  std::vector<MachineGain> gains;
  for_each_machine(by_machine(items), [&](MachineId machine, std::span<const StayItem> here) {
    const PricedPool& pool = price_table.at(machine);
    gains.push_back({machine, pool.type, worth.with_stays(pool, here) - worth(pool)});
  });
  return gains;
}

std::vector<JobId> staying_jobs(const PriceTable& price_table, const MachineProfitBound& worth,
                                std::span<const StayItem> items) {
  std::vector<StayItem> left = by_machine(items);
  for (;;) {
    std::map<JobId, std::int64_t> machines;  // less those that keep the job
    for (const StayItem& item : left) ++machines[item.job];
    const std::map<JobId, std::int64_t> all = machines;
    for_each_machine(left, [&](MachineId machine, std::span<const StayItem> here) {
      for (const JobId job : worth.kept(price_table.at(machine), here)) --machines[job];
    });
    // a job that only some of its machines keep leaves room on these
    const auto leaves = [&](const StayItem& item) {
      return machines[item.job] > 0 && all.at(item.job) > 1;
    };
    if (std::erase_if(left, leaves) > 0) continue;
    std::vector<JobId> jobs;
    for (const auto& [job, without] : machines) {
      if (without == 0) jobs.push_back(job);
    }
    return jobs;
  }
}

}  // namespace berth::certify
