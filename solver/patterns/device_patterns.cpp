// SPDX-License-Identifier: Apache-2.0
#include "device_patterns.hpp"

#include <algorithm>

namespace berth::solver {
namespace {

DevicePattern unfold(const std::vector<Label>& arena, std::int32_t last, int free) {
  const Label& end = arena[static_cast<std::size_t>(last)];
  DevicePattern c{.capacity = free, .total = {}, .items = {}};
  c.total.profit = end.profit;
  c.total.reduced = end.reduced;
  c.total.needs = end.used;
  for (std::int32_t l = last; arena[static_cast<std::size_t>(l)].item >= 0;
       l = arena[static_cast<std::size_t>(l)].parent) {
    const std::int32_t item = arena[static_cast<std::size_t>(l)].item;
    if (c.items.empty() || c.items.back().first != item) c.items.emplace_back(item, 0);
    ++c.items.back().second;
  }
  return c;
}

/// Sorts by descending reduced profit and drops patterns that an earlier one dominates.
void keep_undominated(std::vector<DevicePattern>& patterns) {
  std::ranges::stable_sort(patterns, [](const DevicePattern& a, const DevicePattern& b) {
    return a.total.reduced > b.total.reduced;
  });
  std::vector<DevicePattern> kept;
  for (DevicePattern& c : patterns) {
    const bool dominated = std::ranges::any_of(kept, [&](const DevicePattern& by) {
      return by.total.profit >= c.total.profit && by.total.needs.within(c.total.needs);
    });
    if (!dominated) kept.push_back(std::move(c));
  }
  patterns = std::move(kept);
}

}  // namespace

DevicePatterns device_patterns(const BinType& bin, std::span<const PricingItem> items,
                               const MachineBound& bound, int free, Profit floor,
                               std::size_t labels) {
  const auto units = static_cast<std::size_t>(free / bound.unit);
  std::vector<Label> arena(1);
  ParetoKnapsack knapsack(arena, std::span(bound.share).first(units + 1),
                          {bin.room, floor, labels});
  const std::int32_t nothing = 0;
  knapsack.start(std::span(&nothing, 1));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const PricingItem& item = items[i];
    if (item.milli == 0) continue;
    knapsack.add({static_cast<std::int32_t>(i), item.milli / bound.unit, item.profit,
                  reduced(item, bound.multipliers), item.needs, item.cap},
                 {});
  }
  DevicePatterns result{{}, knapsack.truncated(), knapsack.work()};
  for (std::size_t w = 0; w <= units; ++w) {
    for (const std::int32_t l : knapsack.labels(w)) {
      if (arena[static_cast<std::size_t>(l)].reduced > floor) {
        result.patterns.push_back(unfold(arena, l, free));
      }
    }
  }
  keep_undominated(result.patterns);
  return result;
}

}  // namespace berth::solver
