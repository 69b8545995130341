// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "berth/base/stop.hpp"

namespace berth::solver {

/// Limit on the computation of a packing: a count of the contents that pricing compares, and a
/// token that stops it at once. The limit is a count and not a time, so that plans are equal on all
/// machines. One thread spends: parallel tasks count on their own, and their sums are added between
/// parallel steps.
class WorkBudget {
 public:
  explicit WorkBudget(StopToken stop = {},
                      std::int64_t limit = std::numeric_limits<std::int64_t>::max())
      : stop_(stop), limit_(limit) {}

  void spend(std::int64_t contents) { spent_ += contents; }
  [[nodiscard]] std::int64_t spent() const { return spent_; }
  [[nodiscard]] bool stopped() const { return stop_.requested(); }
  /// True when `part` (0 .. 1) of the limit is spent or a stop is requested.
  [[nodiscard]] bool exhausted(double part = 1.0) const {
    return stopped() || static_cast<double>(spent_) >= part * static_cast<double>(limit_);
  }

 private:
  StopToken stop_;
  std::int64_t limit_;
  std::int64_t spent_ = 0;
};

}  // namespace berth::solver
