// SPDX-License-Identifier: Apache-2.0
#include "capacity_tree.hpp"

#include <algorithm>

#include "berth/base/assert.hpp"

namespace berth::certify {

CapacityTree::CapacityTree(std::span<const CapacityNode> nodes, std::span<const ChoiceItem> items)
    : nodes_(nodes.begin(), nodes.end()),
      children_(nodes.size()),
      own_(nodes.size()),
      path_price_(nodes.size(), 0),
      must_net_(nodes.size(), 0),
      must_milli_(nodes.size(), 0),
      room_(nodes.size(), 0),
      demand_(nodes.size(), 0) {
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    BERTH_EXPECT(nodes[n].parent < static_cast<std::int32_t>(n));
    path_price_[n] = nodes[n].price;
    room_[n] = nodes[n].capacity;
    if (nodes[n].parent < 0) continue;
    const auto parent = static_cast<std::size_t>(nodes[n].parent);
    path_price_[n] += path_price_[parent];
    children_[parent].push_back(n);
  }
  add_items(items);
  choose_shift();
}

void CapacityTree::add_items(std::span<const ChoiceItem> items) {
  for (const ChoiceItem& item : items) {
    const auto node = static_cast<std::size_t>(item.node);
    if (item.must) {
      must_net_[node] += item.net;
      must_milli_[node] += item.milli;
    } else if (item.net + path_price_[node] * item.milli > 0) {
      own_[node].push_back(item);
      demand_[node] += item.milli;
    }
  }
  std::vector<std::int64_t> taken = must_milli_;  // by the subtree
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    room_[n] -= taken[n];
    if (n == 0) break;
    const auto parent = static_cast<std::size_t>(nodes_[n].parent);
    demand_[parent] += demand_[n];
    taken[parent] += taken[n];
  }
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    // no plan exceeds such a capacity, so any amount is a bound
    if (!nodes_[n].penalty) room_[n] = std::max<std::int64_t>(0, room_[n]);
    std::ranges::sort(own_[n], [](const ChoiceItem& a, const ChoiceItem& b) {
      return a.milli != b.milli ? a.milli > b.milli : a.net > b.net;
    });
  }
}

void CapacityTree::choose_shift() {
  Int128 total = 0;
  std::int64_t count = 1;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (const ChoiceItem& item : own_[n]) total += item.net + path_price_[n] * item.milli;
    count += static_cast<std::int64_t>(own_[n].size());
  }
  while ((total >> shift_) + count >= Int128{1} << 61) ++shift_;
}

std::vector<std::size_t> CapacityTree::subtree(std::size_t n) const {
  std::vector<std::size_t> found{n};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& below = children_[found[i]];
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

}  // namespace berth::certify
