// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "berth/base/stop.hpp"

namespace berth::solver {

/// What a packing may still compute: a count of contents that pricing compares, and a token that
/// ends it at once. The count decides, not a clock, so that plans are the same on any machine. One
/// thread spends: what runs in parallel counts for itself and is added between parallel steps.
class WorkBudget {
 public:
  explicit WorkBudget(StopToken stop = {},
                      std::int64_t limit = std::numeric_limits<std::int64_t>::max())
      : stop_(stop), limit_(limit) {}

  void spend(std::int64_t contents) { spent_ += contents; }
  [[nodiscard]] std::int64_t spent() const { return spent_; }
  [[nodiscard]] bool stopped() const { return stop_.requested(); }
  /// True when this part of the limit is spent, or the token says stop.
  [[nodiscard]] bool exhausted(double part = 1.0) const {
    return stopped() || static_cast<double>(spent_) >= part * static_cast<double>(limit_);
  }

 private:
  StopToken stop_;
  std::int64_t limit_;
  std::int64_t spent_ = 0;
};

}  // namespace berth::solver
