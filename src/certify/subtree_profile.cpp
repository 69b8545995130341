// SPDX-License-Identifier: Apache-2.0
#include "subtree_profile.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace berth::certify {
namespace {

/// Calls visit with each run of items of one size.
template <class Visit>
void for_each_size(std::span<const ChoiceItem> items, const Visit& visit) {
  for (std::size_t first = 0; first < items.size();) {
    std::size_t last = first;
    while (last < items.size() && items[last].milli == items[first].milli) ++last;
    visit(items.subspan(first, last - first));
    first = last;
  }
}

void widen_to(KnapsackProfile& profile, std::int64_t units) {
  const auto size = static_cast<std::size_t>(units) + 1;
  if (profile.size() < size) profile.resize(size, profile.back());
}

}  // namespace

SubtreeProfile::SubtreeProfile(const CapacityTree& tree, std::size_t root)
    : tree_(&tree), root_(root), nodes_(tree.subtree(root)), limit_(tree.size(), 0) {
  choose_units();
  count_cells();
}

void SubtreeProfile::choose_units() {
  std::int64_t unit = 0;
  for (const std::size_t n : nodes_) {
    for (const ChoiceItem& item : tree_->own(n)) unit = std::gcd(unit, item.milli);
  }
  unit_ = std::max<std::int64_t>(1, unit);
  for (const std::size_t n : nodes_) {
    limit_[n] = tree_->demand(n) / unit_;
    if (n != root_) {
      limit_[n] = std::min(limit_[n], limit_[static_cast<std::size_t>(tree_->node(n).parent)]);
    }
    if (!tree_->node(n).penalty) limit_[n] = std::min(limit_[n], tree_->room(n) / unit_);
  }
}

void SubtreeProfile::count_cells() {
  for (const std::size_t n : nodes_) {
    std::int64_t merged_units = 0;
    for (const std::size_t c : tree_->children(n)) {
      merged_units = std::min(limit(n), merged_units + limit(c));
      cells_ += (merged_units + 1) * (limit(c) + 1);
    }
    for_each_size(tree_->own(n), [&](std::span<const ChoiceItem> items) {
      cells_ += cells_of_size(limit(n), items.front().milli / unit_);
    });
  }
}

KnapsackProfile SubtreeProfile::own_and_below(std::size_t n,
                                              std::vector<KnapsackProfile>& profiles) const {
  KnapsackProfile profile{0};
  for (const std::size_t c : tree_->children(n)) {
    profile = merged(profile, std::exchange(profiles[c], {}), static_cast<std::size_t>(limit(n)));
  }
  if (tree_->own(n).empty()) return profile;
  widen_to(profile, limit(n));
  for_each_size(tree_->own(n), [&](std::span<const ChoiceItem> items) {
    std::vector<std::int64_t> profits;
    for (const ChoiceItem& item : items) profits.push_back(tree_->profit(item, root_));
    add_equal_sizes(profile, static_cast<std::size_t>(items.front().milli / unit_), profits);
  });
  return profile;
}

void SubtreeProfile::pay_penalty(std::size_t n, KnapsackProfile& profile) const {
  const std::optional<Int128>& penalty = tree_->node(n).penalty;
  if (!penalty) return;
  const std::int64_t already = std::max<std::int64_t>(0, -tree_->room(n));
  std::int64_t most = 0;
  for (std::size_t u = 0; u < profile.size(); ++u) {
    // what items that must be chosen pay is counted once, in bound()
    const std::int64_t beyond = static_cast<std::int64_t>(u) * unit_ - tree_->room(n) - already;
    if (beyond > 0) profile[u] -= tree_->scaled_down(*penalty / 1000 * beyond);
    most = std::max(most, profile[u]);
    profile[u] = most;
  }
}

Int128 SubtreeProfile::bound() const {
  std::vector<KnapsackProfile> profiles(tree_->size());
  Int128 must = 0;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const std::size_t n = nodes_[i];
    profiles[n] = own_and_below(n, profiles);
    pay_penalty(n, profiles[n]);
    must += tree_->must_profit(n, root_);
    const std::int64_t beyond = std::max<std::int64_t>(0, -tree_->room(n));
    if (tree_->node(n).penalty) must -= *tree_->node(n).penalty / 1000 * beyond;
  }
  return must + tree_->unscaled(profiles[root_].back());
}

}  // namespace berth::certify
