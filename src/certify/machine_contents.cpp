// SPDX-License-Identifier: Apache-2.0
// The contents of machines whose resources may bind.
#include "content_bound.hpp"
#include "machine_knapsack.hpp"
#include "machine_profit_bound.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "berth/parallel/loops.hpp"

namespace berth::certify {

using model::kResources;

namespace {

/// Work for all machines together, shared by the different ones (decision 27).
constexpr std::size_t kAllLabels = 200'000;
constexpr std::size_t kAllCells = 100'000'000;

ContentWork work_for_one_of(std::size_t machines) {
  const ContentWork most;
  return {.labels = std::min(most.labels, kAllLabels / machines),
          .cells = std::min(most.cells, kAllCells / machines)};
}

MachineRoom room_of(const MachineVariant& variant) {
  return {.whole = variant.whole, .partly = variant.partly, .amounts = variant.room};
}

bool has_price(const model::Resources& prices) { return !prices.none(); }

}  // namespace

/// True when the machine has room for the bundle alone.
bool MachineProfitBound::fits(const MachineVariant& variant, const BundleNeeds& bundle) {
  if (!bundle.needs.within(variant.room)) return false;
  if (bundle.size.gpus > 0 || bundle.size.milli == 0) return bundle.size.gpus <= variant.whole;
  const std::int64_t partly = variant.partly.empty() ? 0 : variant.partly.back();
  return bundle.size.milli <= (variant.whole > 0 ? 1000 : partly);
}

/// True when some content may need more of a resource than the machine has.
bool MachineProfitBound::binds(const MachineVariant& variant,
                               std::span<const BundleNeeds> bundles) {
  const std::int64_t free_milli = variant.free_milli();
  return std::ranges::any_of(bundles, [&](const BundleNeeds& bundle) {
    for (std::size_t r = 0; r < kResources; ++r) {
      if (never_binds(bundle.needs[r], bundle.size.milli, variant.room[r], free_milli)) continue;
      if (fits(variant, bundle)) return true;
    }
    return false;
  });
}

std::vector<KnapsackItem> MachineProfitBound::items_of(const MachineVariant& variant,
                                                       const UnitPrices& price,
                                                       std::span<const BundleNeeds> bundles,
                                                       const Multiplier& multiplier) {
  std::vector<KnapsackItem> items;
  for (const BundleNeeds& bundle : bundles) {
    if (!fits(variant, bundle)) continue;
    Int128 pays = Int128{price.gpu_milli} * bundle.size.milli + bundle.size.rest;
    for (std::size_t r = 0; r < kResources; ++r) {
      pays += (Int128{price.resources[r]} + multiplier.unit_price[r]) * bundle.needs[r];
    }
    items.push_back({.price = pays,
                     .devices = bundle.size.gpus,
                     .milli = bundle.size.milli,
                     .needs = bundle.needs,
                     .copies = bundle.tasks});
  }
  return items;
}

/// Bounds the contents of each kind of machines with equal prices where a resource may bind or has
/// a price; elsewhere the bound by multipliers is the largest content.
void MachineProfitBound::bound_contents(const PriceTable& price_table,
                                        std::span<const std::vector<BundleNeeds>> by_class) {
  const MachineVariants& variants = price_table.variants();
  std::map<VariantId, bool> binding;
  for (const PricedPool& pool : price_table.pools()) {
    const MachineVariant& variant = variants[pool.variant];
    const ClassId c = variant.machine_class;
    if (!variant.up) continue;
    const auto [entry, fresh] = binding.try_emplace(pool.variant, false);
    if (fresh) {
      entry->second =
          has_price(price_table.multiplier(c).unit_price) || binds(variant, by_class[c.index()]);
    }
    if (entry->second || has_price(pool.price.resources)) {
      content_.push_back({pool.variant, pool.price});
    }
  }
  std::ranges::sort(content_);
  content_.erase(std::unique(content_.begin(), content_.end()), content_.end());
  if (content_.empty()) return;
  content_most_.resize(content_.size());
  const ContentWork work = work_for_one_of(content_.size());
  parallel::run_tasks(content_.size(), [&](std::size_t i) {
    const MachineVariant& variant = variants[content_[i].variant];
    const ClassId c = variant.machine_class;
    const auto items =
        items_of(variant, content_[i].price, by_class[c.index()], price_table.multiplier(c));
    content_most_[i] = content_bound(room_of(variant), items, work);
  });
}

}  // namespace berth::certify
