// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/papers/knapsack.hpp"

namespace berth::papers {

/// What is left of the capacity.
class KnapsackRoom {
 public:
  explicit KnapsackRoom(const Knapsack& knapsack)
      : knapsack_(&knapsack), left_(knapsack.capacity) {}

  [[nodiscard]] bool fits(std::size_t item) const {
    const auto size = knapsack_->size_of(item);
    for (std::size_t r = 0; r < left_.size(); ++r) {
      if (size[r] > left_[r] + kSlack * knapsack_->capacity[r]) return false;
    }
    return true;
  }
  void take(std::size_t item) { add(item, -1.0); }
  void put_back(std::size_t item) { add(item, 1.0); }
  [[nodiscard]] const std::vector<double>& left() const { return left_; }

 private:
  static constexpr double kSlack = 1e-12;  ///< relative: sums of sizes

  void add(std::size_t item, double sign) {
    const auto size = knapsack_->size_of(item);
    for (std::size_t r = 0; r < left_.size(); ++r) left_[r] += sign * size[r];
  }

  const Knapsack* knapsack_;
  std::vector<double> left_;
};

}  // namespace berth::papers
