// SPDX-License-Identifier: Apache-2.0
#include "pricing_pass.hpp"

#include "pricing_items.hpp"

#include <algorithm>
#include <utility>

namespace berth::solver {
namespace {

/// Most labels of one size while the patterns of one device are built. Of few items the labels are
/// few too, and dropping some costs rounds of pricing (openb: 22 % more instructions with 24). Of
/// 228 random shapes, 200 labels spend the work limit in two rounds: gap 1.71 %, with 64 1.63 %,
/// with 24 1.54 %; 16 miss the last GPU of a packing without waste.
std::size_t labels_a_device_size(std::size_t items) { return items > kManyTypes ? 24 : 200; }

}  // namespace

PricingPass::PricingPass(const BinType& bin, std::span<const PricingItem> items,
                         const MachineBound& bound, Profit threshold, std::size_t labels)
    : bin_(bin), items_(items), bound_(bound), labels_(labels), arena_(1) {
  delta_ = bound.bound - threshold;
  floor_ = bound.share.empty() ? 0 : devices_bound() - delta_;
  for (const PricingItem& i : items) tight_.push_back(i.cap < most_copies(bin, i) ? 1 : 0);
  ends_ = {0};
}

void PricingPass::run() {
  Profit later = devices_bound();
  for (std::size_t first = 0; first < bin_.partial.size();) {
    const int free = bin_.partial[first];
    std::size_t end = first;
    for (; end < bin_.partial.size() && bin_.partial[end] == free; ++end) {
      later -= bound_.device(free);
    }
    opened_devices(free, end - first, later);
    first = end;
  }
  if (bin_.whole > 0) whole_devices();
}

/// Bound on the reduced profit over all devices of the machine.
Profit PricingPass::devices_bound() const {
  Profit sum = bound_.whole.back();
  for (const int free : bin_.partial) sum += bound_.device(free);
  return sum;
}

std::int32_t PricingPass::copies_before(const Label& last, std::int32_t item) const {
  std::int32_t sum = 0;
  for (const Label* l = &last; l->item >= 0; l = &label(l->parent)) {
    for (const auto& [i, count] : pattern(l->item).items) sum += i == item ? count : 0;
  }
  return sum;
}

ParetoKnapsack::Admits PricingPass::admits(const DevicePattern& pattern) const {
  std::vector<std::pair<std::int32_t, std::int32_t>> tight;
  for (const auto& entry : pattern.items) {
    if (tight_[static_cast<std::size_t>(entry.first)] != 0) tight.push_back(entry);
  }
  if (tight.empty()) return {};
  return [this, tight = std::move(tight)](const Label& from, std::int32_t) {
    return std::ranges::all_of(tight, [&](const auto& entry) {
      const auto& [i, count] = entry;
      return copies_before(from, i) + count <= items_[static_cast<std::size_t>(i)].cap;
    });
  };
}

void PricingPass::add_device_patterns(DevicePatterns found) {
  truncated_ = truncated_ || found.truncated;
  work_ += found.work;
  for (DevicePattern& c : found.patterns) {
    c.total.cap = 1 << 20;
    for (const auto& [i, count] : c.items) {
      c.total.cap = std::min(c.total.cap, items_[static_cast<std::size_t>(i)].cap / count);
    }
    patterns_.push_back(std::move(c));
  }
}

void PricingPass::extend(ParetoKnapsack& knapsack, std::size_t from) {
  knapsack.start(ends_);
  std::stable_sort(patterns_.begin() + static_cast<std::ptrdiff_t>(from), patterns_.end(),
                   [](const DevicePattern& a, const DevicePattern& b) {
                     return a.total.reduced * b.total.size > b.total.reduced * a.total.size;
                   });
  for (std::size_t c = from; c < patterns_.size(); ++c) {
    patterns_[c].total.id = static_cast<std::int32_t>(c);
    if (patterns_[c].total.cap > 0) knapsack.add(patterns_[c].total, admits(patterns_[c]));
  }
  truncated_ = truncated_ || knapsack.truncated();
  work_ += knapsack.work();
  ends_ = knapsack.labels(knapsack.capacity());
}

void PricingPass::opened_devices(int free, std::size_t devices, Profit later) {
  const std::size_t from = patterns_.size();
  add_device_patterns(device_patterns(bin_, items_, bound_, free, bound_.device(free) - delta_,
                                      labels_a_device_size(items_.size())));
  std::vector<Profit> rest(devices + 1, 0);
  for (std::size_t k = 1; k <= devices; ++k) rest[k] = rest[k - 1] + bound_.device(free);
  ParetoKnapsack knapsack(
      arena_, rest,
      {bin_.room, floor_ - later, std::max<std::size_t>(labels_ / (devices + 1), 16)});
  extend(knapsack, from);
}

void PricingPass::whole_devices() {
  const std::size_t from = patterns_.size();
  const Profit last = bound_.whole.back() - bound_.whole[bound_.whole.size() - 2];
  add_device_patterns(device_patterns(bin_, items_, bound_, static_cast<int>(model::kGpuMilli),
                                      last - delta_, labels_a_device_size(items_.size())));
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const PricingItem& item = items_[i];
    if (item.gpus == 0 || item.gpus > bin_.whole) continue;
    patterns_.push_back({.capacity = 0,
                         .total = {0, item.gpus, item.profit, reduced(item, bound_.multipliers),
                                   item.needs, item.cap},
                         .items = {{static_cast<std::int32_t>(i), 1}}});
  }
  ParetoKnapsack knapsack(
      arena_, bound_.whole,
      {bin_.room, floor_,
       std::max<std::size_t>(labels_ / static_cast<std::size_t>(bin_.whole + 1), 16)});
  extend(knapsack, from);
}

}  // namespace berth::solver
