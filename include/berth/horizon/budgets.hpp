// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "berth/horizon/problem.hpp"

namespace berth::horizon {

/// GPU-seconds until Problem::budgets_end that placed jobs leave of each budget.
class BudgetsLeft {
 public:
  explicit BudgetsLeft(const Problem& problem) : problem_(problem), left_(problem.budgets) {}

  /// O(budgets of the option).
  [[nodiscard]] bool allow(const Option& option, Seconds start) const {
    const std::int64_t needed = gpu_seconds(option, start);
    return needed == 0 || std::ranges::all_of(problem_.budgets_of(option), [&](std::int32_t b) {
             return needed <= left_[static_cast<std::size_t>(b)];
           });
  }

  /// Takes (sign 1) or returns (-1) what the option uses. O(budgets of the option).
  void take(const Option& option, Seconds start, int sign) {
    for (const std::int32_t b : problem_.budgets_of(option)) {
      left_[static_cast<std::size_t>(b)] -= sign * gpu_seconds(option, start);
    }
  }

 private:
  [[nodiscard]] std::int64_t gpu_seconds(const Option& option, Seconds start) const {
    const Seconds end = std::min(start + option.duration, problem_.budgets_end);
    const Seconds span = std::max<Seconds>(0, end - start);
    const std::int64_t parts = option.share_milli % 1000 * span;
    return (option.gpus + option.share_milli / 1000) * span + (parts + 999) / 1000;
  }

  const Problem& problem_;
  std::vector<std::int64_t> left_;  ///< GPU-seconds, by budget
};

}  // namespace berth::horizon
