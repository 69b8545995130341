// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace berth::solver::bounding {

struct JobItem {
  double profit = 0.0;
  std::uint32_t job = 0;
  std::int32_t size = 0;  ///< units, > 0
};

using ChoiceVisitor = std::function<void(std::uint32_t job, std::uint32_t spot)>;

/// 0/1 knapsack: largest profit in at most g units of GPUs, for every g up to a capacity, with the
/// choice.
class Knapsack {
 public:
  /// Starts the knapsack of one rack: each unit that no item takes is worth `rate`. `spot` is
  /// passed with every choice of an item that is added here.
  void reset(std::int32_t capacity, double rate, std::uint32_t spot);

  /// Starts the knapsack of several disjoint parts and of what they leave of `capacity`, which is
  /// worth nothing by itself. The parts must outlive `visit_choice`.
  /// @pre capacity is not below the sum of the parts' capacities
  void join(std::span<const Knapsack* const> parts, std::int32_t capacity, std::uint32_t spot);

  /// Adds items, each of which may be chosen at most once. O(items x capacity).
  void add(std::span<const JobItem> items);

  [[nodiscard]] double max_profit() const { return best_.back(); }
  /// Cells of tables computed since `reset` or `join`: what it cost.
  [[nodiscard]] std::int64_t cells() const { return cells_; }
  [[nodiscard]] std::int32_t capacity() const {
    return static_cast<std::int32_t>(best_.size()) - 1;
  }

  /// Calls `chosen` for the items of an optimal choice of at most so many units.
  void visit_choice(std::int32_t units, const ChoiceVisitor& chosen) const;

 private:
  std::uint32_t spot_ = 0;
  std::int64_t cells_ = 0;
  std::vector<double> best_;
  std::vector<JobItem> items_;
  std::vector<std::uint8_t> taken_;  ///< item x (capacity + 1)
  std::vector<const Knapsack*> parts_;
  std::vector<std::vector<double>> joined_;  ///< [i]: max-plus convolution of parts 0 .. i + 1
};

}  // namespace berth::solver::bounding
