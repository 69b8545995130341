// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/gang_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify::search {

/// Bounds by any prices y_j >= 0 for "each gang once", with each outermost place as a 0/1 knapsack
/// of its own in a table by gangs left and units left. Exact integers; the prices are found in
/// floating point and rounded.
class GangBound {
 public:
  /// Makes no tables yet. @param problem  outlives this
  explicit GangBound(const GangProblem& problem);

  [[nodiscard]] std::size_t cells() const;  ///< of all tables

  /// Finds prices. @return the bound before any choice. O(cells), some hundred times
  Int128 find_prices();

  [[nodiscard]] std::size_t outermost(std::size_t place) const { return outermost_[place]; }
  /// Largest profit of the gangs from `depth` on in an outermost place with so many units.
  [[nodiscard]] Int128 profit(std::size_t place, std::size_t depth, std::int32_t units) const {
    const std::size_t as = table_of_[place];
    return tables_[as][depth * width(as) + static_cast<std::size_t>(units)];
  }
  /// What gangs from `depth` on gain at most. @param left  by place: units
  [[nodiscard]] Int128 at(std::size_t depth, std::span<const std::int32_t> left) const;

 private:
  [[nodiscard]] bool is_outermost(std::size_t place) const { return outermost_[place] == place; }
  [[nodiscard]] std::size_t width(std::size_t place) const {
    return static_cast<std::size_t>(problem_.places[place].capacity) + 1;
  }
  void find_most();
  Int128 evaluate(const std::vector<Int128>& prices, std::vector<int>& chosen);
  void fill(std::size_t place, const std::vector<Int128>& prices);
  void step(double above, const std::vector<int>& chosen, std::vector<Int128>& prices) const;

  const GangProblem& problem_;
  std::size_t depth_;                        ///< gangs
  std::vector<std::size_t> outermost_;       ///< by place
  std::vector<std::vector<Int128>> most_;    ///< by outermost place, gang
  std::vector<std::size_t> table_of_;        ///< by outermost place: the first equal one
  std::vector<std::vector<Int128>> tables_;  ///< by place: depth x units
  std::vector<Int128> prices_left_;          ///< by depth: of the gangs from there on
};

}  // namespace berth::certify::search
