// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify {

/// A capacity for the jobs of this node and of all nodes below it.
struct CapacityNode {
  std::int32_t parent = -1;   ///< index of an earlier node; -1: none
  std::int64_t capacity = 0;  ///< GPU thousandths, >= 0
  Int128 price = 0;           ///< per thousandth, >= 0
  /// Lost per 1,000 thousandths beyond the capacity, >= 1,000 prices; empty: nothing may be beyond.
  std::optional<Int128> penalty = {};
};

/// A job that is chosen or not.
struct ChoiceItem {
  Int128 net = 0;          ///< profit less the prices of its node and of the nodes above
  std::int64_t milli = 0;  ///< GPU thousandths, > 0
  std::int32_t node = 0;
  bool must = false;  ///< is chosen
};

/// Cells that tables may have in all.
struct KnapsackWork {
  std::int64_t exact = 12'000'000;  ///< of whole subtrees: about 15 ms. Chosen, not tuned.
  std::int64_t large = 8'000'000;   ///< of nodes at their price. Likewise.
};

/// Upper bound on  sum of chosen (net + path prices x milli) - penalties  over all choices of whole
/// items that keep all capacities (0/1 knapsack with nested capacities). At most
///   sum over nodes capacity x price + sum over items max(0, net)   (must: net),
/// the Lagrangian bound at the prices. By node the least of three bounds counts:
/// - its capacity at its price, and the bounds of its children;
/// - dynamic programming over the units of its subtree (the gcd of all items' sizes), exact, where
///   its tables have few enough cells;
/// - of a node without a penalty: its large items whole, the others divisible, and capacities
///   below it at their prices.
/// @param nodes  the first is the only one without a parent
/// Independent of the order of the items. O(items log items x depth) and the cells of `work`.
Int128 nested_knapsack_bound(std::span<const CapacityNode> nodes, std::span<const ChoiceItem> items,
                             const KnapsackWork& work = {});

}  // namespace berth::certify
