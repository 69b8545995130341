// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace berth::solver::bounding {

/// 0/1 knapsack by units of capacity, with the choice: parts are merged and items are added, size
/// by size.
class KnapsackTables {
 public:
  /// @param capacity  units
  explicit KnapsackTables(std::int64_t capacity) : capacity_(capacity) {}

  /// Adds a disjoint part, which must outlive `visit_choice`. O(units of both).
  void merge(const KnapsackTables& part);
  /// Adds items of one size, each at most once. O(capacity log capacity).
  /// @param items  by descending profit; their profits are >= 0
  void add(std::int64_t size, std::span<const std::uint32_t> items,
           std::span<const double> profits);
  /// Subtracts a penalty for each thousandth beyond `room`.
  /// @param unit  thousandths of a unit
  void pay_beyond(std::int64_t room, std::int64_t unit, double penalty);

  /// Most profit by units used at most.
  [[nodiscard]] std::span<const double> profits() const { return best_; }
  /// Units that earn the most at a price of each; the fewest.
  [[nodiscard]] std::size_t units_at(double price) const;
  void visit_choice(std::size_t units, const std::function<void(std::uint32_t)>& chosen) const;

 private:
  struct Step {
    const KnapsackTables* part = nullptr;  ///< merged; null: items
    std::int64_t size = 0;
    std::vector<std::uint32_t> items = {};
    std::vector<std::int32_t> taken = {};  ///< by units: of the part, or number of items
  };
  void widen();

  std::int64_t capacity_;
  std::vector<double> best_{0.0};
  std::vector<Step> steps_;
};

}  // namespace berth::solver::bounding
