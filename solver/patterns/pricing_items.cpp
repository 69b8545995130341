// SPDX-License-Identifier: Apache-2.0
#include "pricing_items.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace berth::solver {
namespace {

/// True when `better` fits wherever `item` fits and its profit is not smaller.
bool replaces(const PricingItem& better, const PricingItem& item) {
  if (better.profit < item.profit || !better.needs.within(item.needs)) return false;
  if (item.milli > 0) return better.milli > 0 && better.milli <= item.milli;
  return better.gpus <= item.gpus;
}

/// Needs of a task in the resources that the bin type limits; 0 in the others.
model::Resources counted_needs(const model::Shape& shape, const BinType& bin) {
  model::Resources needs = shape.needs;
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (bin.room[r] == model::kNoLimit) needs[r] = 0;
  }
  return needs;
}

/// Drops GPU tasks that another item replaces: best content and bound stay equal (decision 11).
void drop_replaced(const BinType& bin, std::vector<PricingItem>& items) {
  std::vector<const PricingItem*> order;
  for (const PricingItem& item : items) order.push_back(&item);
  std::ranges::stable_sort(order, std::greater{}, [](const PricingItem* i) { return i->profit; });
  std::vector<const PricingItem*> ample;  // items whose cap does not bind on this bin type
  std::vector<PricingItem> kept;
  for (const PricingItem* item : order) {
    if (item->uses_gpu() &&
        std::ranges::any_of(ample, [&](const PricingItem* a) { return replaces(*a, *item); }))
      continue;
    kept.push_back(*item);
    if (item->uses_gpu() && item->cap >= most_copies(bin, *item)) ample.push_back(item);
  }
  items = std::move(kept);
}

}  // namespace

std::int64_t most_copies(const BinType& bin, const PricingItem& item) {
  if (item.gpus > 0) return bin.whole / item.gpus;
  if (item.milli == 0) return 0;
  std::int64_t copies = static_cast<std::int64_t>(bin.whole) * (model::kGpuMilli / item.milli);
  for (const int free : bin.partial) copies += free / item.milli;
  return copies;
}

std::vector<PricingItem> pricing_items(const PackingProblem& problem, std::size_t bin,
                                       std::span<const double> price,
                                       std::span<const std::int64_t> room_for) {
  const BinType& s = problem.bins[bin];
  std::vector<PricingItem> items;
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    const JobType& type = problem.types[t];
    if (room_for[t] <= 0 || !fits(type, s) || type.value[s.slot] <= price[t]) continue;
    items.push_back({static_cast<std::int32_t>(t), type.shape.gpus, s.share(type.shape),
                     counted_needs(type.shape, s), to_profit(type.value[s.slot] - price[t]),
                     static_cast<std::int32_t>(std::min<std::int64_t>(room_for[t], 1 << 20))});
  }
  drop_replaced(s, items);
  std::ranges::sort(items, {}, [](const PricingItem& i) { return std::tuple(i.milli, i.type); });
  return items;
}

}  // namespace berth::solver
