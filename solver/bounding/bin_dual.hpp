// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "multiple_knapsack.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver::bounding {

/// The Lagrangian dual of a multiple knapsack problem with a price for each item; each outermost
/// place, a *bin*, is one knapsack with the items' best values in it. Equal bins share a table.
class BinDual {
 public:
  /// @param order  of the items in the tables: by position
  BinDual(const MultipleKnapsack& problem, std::span<const std::uint32_t> order);

  [[nodiscard]] std::size_t bins() const { return kind_.size(); }
  [[nodiscard]] std::size_t bin(std::size_t place) const { return bin_[place]; }
  /// Of one evaluation.
  [[nodiscard]] std::int64_t cells() const;

  /// Sets the tables, and how often each item is chosen. @param prices  by position
  /// @return the bound
  double evaluate(std::span<const double> prices, std::span<std::int32_t> chosen);
  /// Largest profit in the bin of the items from this position on within so many units.
  [[nodiscard]] double profit(std::size_t bin, std::size_t position, std::int32_t units) const {
    const Kind& kind = kinds_[kind_[bin]];
    return kind.best[position * kind.width() + static_cast<std::size_t>(units)];
  }
  /// Largest value of the item at a position.
  [[nodiscard]] double most(std::size_t position) const;

 private:
  struct Kind {
    std::int32_t capacity = 0;
    std::vector<double> value;  ///< by position
    std::int32_t count = 0;     ///< of bins
    std::vector<double> best;   ///< position x units

    [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(capacity) + 1; }
  };
  void fill(Kind& kind, std::span<const double> prices) const;

  std::vector<std::int32_t> sizes_;  ///< by position
  std::vector<std::size_t> bin_;     ///< by place
  std::vector<std::size_t> kind_;    ///< by bin
  std::vector<Kind> kinds_;
};

}  // namespace berth::solver::bounding
