// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nested_knapsack.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify {

/// Nodes and items of a nested knapsack in the form that its bounds need. Profits are 64-bit
/// integers, rounded up to units of 2^shift so that their sum stays below 2^61.
class CapacityTree {
 public:
  CapacityTree(std::span<const CapacityNode> nodes, std::span<const ChoiceItem> items);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const CapacityNode& node(std::size_t n) const { return nodes_[n]; }
  [[nodiscard]] std::span<const std::size_t> children(std::size_t n) const { return children_[n]; }
  /// Capacity less the items of the subtree that must be chosen; below 0 only with a penalty.
  [[nodiscard]] std::int64_t room(std::size_t n) const { return room_[n]; }
  /// Sum of the sizes of the other items of the subtree.
  [[nodiscard]] std::int64_t demand(std::size_t n) const { return demand_[n]; }

  /// Items of the node itself that may be chosen, the largest and then the most profitable first.
  [[nodiscard]] std::span<const ChoiceItem> own(std::size_t n) const { return own_[n]; }
  /// Sum over the node's own items that must be chosen: profit before the prices of `root` and the
  /// nodes between both.
  [[nodiscard]] Int128 must_profit(std::size_t n, std::size_t root) const {
    return must_net_[n] + saved(n, root) * must_milli_[n];
  }
  /// The same, net of all prices but `price`.
  [[nodiscard]] Int128 must_net(std::size_t n, Int128 price = 0) const {
    return must_net_[n] + price * must_milli_[n];
  }

  /// Profit of an item before the prices of `root` and the nodes between both, >= 0.
  [[nodiscard]] std::int64_t profit(const ChoiceItem& item, std::size_t root) const {
    return scaled_up(item.net + saved(static_cast<std::size_t>(item.node), root) * item.milli);
  }
  /// Prices of the nodes from `n` up to `root`.
  [[nodiscard]] Int128 saved(std::size_t n, std::size_t root) const {
    const std::int32_t above = nodes_[root].parent;
    return path_price_[n] - (above < 0 ? 0 : path_price_[static_cast<std::size_t>(above)]);
  }
  [[nodiscard]] std::int64_t scaled_up(Int128 amount) const {
    if (amount <= 0) return 0;
    return static_cast<std::int64_t>((amount + (Int128{1} << shift_) - 1) >> shift_);
  }
  [[nodiscard]] std::int64_t scaled_down(Int128 amount) const {
    return static_cast<std::int64_t>(amount >> shift_);
  }
  [[nodiscard]] Int128 unscaled(std::int64_t amount) const { return Int128{amount} << shift_; }

  /// The node and all nodes below it, parents first.
  [[nodiscard]] std::vector<std::size_t> subtree(std::size_t n) const;

 private:
  void add_items(std::span<const ChoiceItem> items);
  void choose_shift();

  std::vector<CapacityNode> nodes_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::vector<ChoiceItem>> own_;
  std::vector<Int128> path_price_;  ///< of the node and the nodes above
  std::vector<Int128> must_net_;
  std::vector<std::int64_t> must_milli_, room_, demand_;
  int shift_ = 0;
};

}  // namespace berth::certify
