// SPDX-License-Identifier: Apache-2.0
#include "machine_knapsack.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace berth::certify {
namespace {

using model::kResources;
using Item = MachineKnapsack::Item;

/// True when `item` takes the place of `other` in every content at no loss.
bool replaces(const Item& item, const Item& other) {
  return item.plenty && item.milli == other.milli && item.devices == other.devices &&
         item.price >= other.price && item.needs.within(other.needs);
}

}  // namespace

std::int64_t MachineRoom::free_milli() const {
  return std::accumulate(partly.begin(), partly.end(), std::int64_t{1000} * whole);
}

MachineKnapsack::MachineKnapsack(const MachineRoom& room, std::span<const KnapsackItem> items)
    : whole_(static_cast<std::size_t>(room.whole)), room_(room.amounts) {
  find_binding(items, room.free_milli());
  std::vector<Item> tasks, shares, without_gpus;
  for (const KnapsackItem& item : items) {
    if (item.price <= 0) continue;
    auto& kind = item.devices > 0 ? tasks : item.is_share() ? shares : without_gpus;
    kind.push_back(limited(item));
    if (item.is_share()) step_ = std::gcd(step_, item.milli);
  }
  tasks_ = undominated(std::move(tasks));
  shares_ = undominated(std::move(shares));
  without_gpus_ = undominated(std::move(without_gpus));
  if (shares_.empty()) return;
  for (const std::int64_t milli : room.partly) {
    if (milli >= step_) partly_.push_back(static_cast<std::size_t>(milli / step_));
  }
}

void MachineKnapsack::find_binding(std::span<const KnapsackItem> items, std::int64_t free_milli) {
  for (std::size_t r = 0; r < kResources; ++r) {
    const bool never = std::ranges::all_of(items, [&](const KnapsackItem& item) {
      return never_binds(item.needs[r], item.milli, room_[r], free_milli);
    });
    if (never) continue;
    binding_.push_back(r);
    std::int64_t unit = 0;
    for (const KnapsackItem& item : items) unit = std::gcd(unit, item.needs[r]);
    unit_[r] = unit;
    room_[r] /= unit;
  }
}

Item MachineKnapsack::limited(const KnapsackItem& item) const {
  Item result{item};
  result.needs = {};
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (item.devices > 0) most = static_cast<std::int64_t>(whole_) / item.devices;
  for (const std::size_t r : binding_) {
    const std::int64_t need = item.needs[r] / unit_[r];
    result.needs[r] = need;
    if (need > 0) most = std::min(most, room_[r] / need);
  }
  result.plenty = item.is_share() || item.copies == 0 || item.copies >= most;
  result.most = result.plenty ? most : item.copies;
  return result;
}

/// Sorted: of items that pay as much for a device, those of the smallest needs are taken first.
std::vector<Item> MachineKnapsack::undominated(std::vector<Item> items) const {
  const auto needs_per_gpu = [&](const Item& item) {
    double sum = 0.0;  // decides an order alone; exact enough on any processor
    for (const std::size_t r : binding_) {
      if (item.needs[r] > 0) {
        sum += static_cast<double>(item.needs[r]) / static_cast<double>(room_[r]);
      }
    }
    return item.milli > 0 ? sum / static_cast<double>(item.milli) : sum;
  };
  const auto key = [&](const Item& i) { return std::tuple(needs_per_gpu(i), i.milli, -i.price); };
  std::ranges::stable_sort(items, {}, key);
  std::vector<Item> kept;
  for (const Item& item : items) {
    const bool replaced =
        std::ranges::any_of(kept, [&](const Item& k) { return replaces(k, item); });
    if (!replaced) kept.push_back(item);
  }
  return kept;
}

}  // namespace berth::certify
