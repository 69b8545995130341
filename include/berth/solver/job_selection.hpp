// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/infinity.hpp"

namespace berth::solver {

/// A capacity for the jobs of this node and of all nodes below it.
struct SelectionNode {
  std::int32_t parent = -1;    ///< index of an earlier node; -1: none
  std::int64_t capacity = 0;   ///< GPU thousandths, >= 0
  double penalty = kInfinity;  ///< per thousandth beyond the capacity; infinite: none may be beyond
};

/// A job that is selected or not.
struct SelectionItem {
  double profit = 0.0;     ///< before the prices of the nodes
  std::int64_t milli = 0;  ///< GPU thousandths, > 0
  std::int32_t node = 0;
  bool must = false;  ///< is selected
};

struct JobSelection {
  std::vector<std::uint8_t> selected;  ///< by item
  std::vector<double> prices;          ///< by node: per thousandth, for it and all nodes below
  double bound = 0.0;                  ///< on the profit of all selections
};

/// Selects whole jobs within nested capacities (0/1 knapsack with laminar capacities; by dynamic
/// programming over GPUs, as Kellerer, Pferschy and Pisinger 2004, chapter 2).
///
/// Subtrees whose tables have at most `cells` cells in all are solved exactly. A node above them
/// has a price: the least at which its jobs and subtrees ask for no more than its capacity
/// (Lagrangian relaxation; a node pays the largest price of the nodes above, so prices are found
/// from the leaves to the root by bisection). There the selection may leave capacity unused.
///
/// @param nodes  the first is the only one without a parent
/// @param cells  0: every node has a price, so `bound` is that of divisible jobs
/// Deterministic: ties go to the earlier item. O(items log items + cells + bisection x items).
JobSelection select_jobs(std::span<const SelectionNode> nodes, std::span<const SelectionItem> items,
                         std::int64_t cells = 12'000'000);

}  // namespace berth::solver
