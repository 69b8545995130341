// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capacity_tree.hpp"
#include "knapsack_profile.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify {

/// Exact value of a subtree of capacities: profiles of the children are merged, and a node's own
/// items are added by size.
class SubtreeProfile {
 public:
  SubtreeProfile(const CapacityTree& tree, std::size_t root);

  /// About so many cells are filled.
  [[nodiscard]] std::int64_t cells() const { return cells_; }
  /// Largest profit before the prices of the subtree, with the items that must be chosen.
  [[nodiscard]] Int128 bound() const;

 private:
  void choose_units();
  void count_cells();
  [[nodiscard]] KnapsackProfile own_and_below(std::size_t n,
                                              std::vector<KnapsackProfile>& profiles) const;
  void pay_penalty(std::size_t n, KnapsackProfile& profile) const;
  [[nodiscard]] std::int64_t limit(std::size_t n) const { return limit_[n]; }

  const CapacityTree* tree_;
  std::size_t root_;
  std::vector<std::size_t> nodes_;   ///< of the subtree, parents first
  std::int64_t unit_ = 1;            ///< GPU thousandths
  std::vector<std::int64_t> limit_;  ///< by node: units that its items may take
  std::int64_t cells_ = 0;
};

}  // namespace berth::certify
