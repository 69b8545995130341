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
  std::int32_t size = 0;  ///< GPUs, > 0
};

using ChoiceVisitor = std::function<void(std::uint32_t job, std::uint32_t spot)>;

/// Most profit in at most g GPUs, for every g up to a capacity, with a way back to the choice.
class Knapsack {
 public:
  /// Of one rack: its GPUs are worth `rate` each when no item takes them.
  /// `spot` is passed with every choice of an item that is added here.
  void reset(std::int32_t capacity, double rate, std::uint32_t spot);

  /// Of several parts: each GPU belongs to one of them. The parts must outlive the choice.
  void join(std::span<const Knapsack* const> parts, std::uint32_t spot);

  /// Each item at most once. O(items x capacity).
  void add(std::span<const JobItem> items);

  [[nodiscard]] double max_profit() const { return best_.back(); }
  [[nodiscard]] std::int32_t capacity() const {
    return static_cast<std::int32_t>(best_.size()) - 1;
  }

  /// Calls back for the jobs of a best content of at most `gpus` GPUs.
  void visit_choice(std::int32_t gpus, const ChoiceVisitor& chosen) const;

 private:
  std::uint32_t spot_ = 0;
  std::vector<double> best_;
  std::vector<JobItem> items_;
  std::vector<std::uint8_t> taken_;  ///< item x (capacity + 1)
  std::vector<const Knapsack*> parts_;
  std::vector<std::vector<double>> joined_;  ///< [i]: of parts 0 .. i + 1
};

}  // namespace berth::solver::bounding
