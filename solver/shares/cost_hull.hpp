// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace berth::solver {

/// Walk along the lower hull of the origin and the points (rate_t, price_t x gpus), from the origin
/// to the largest rate: segments of rising slope. A segment of slope s from progress `from` to `to`
/// costs s a unit of progress. O(types) a step
class CostHull {
 public:
  static constexpr std::size_t kIdle = std::numeric_limits<std::size_t>::max();

  CostHull(std::span<const double> rate, std::span<const double> price, double gpus)
      : rate_(rate), price_(price), gpus_(gpus) {}

  /// Moves to the next segment; false at the end. Ties: the larger rate, then the first type.
  bool next() {
    from_type = to_type;
    from = to;
    const double from_cost = cost_of(from_type);
    std::size_t best = kIdle;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < rate_.size(); ++t) {
      if (rate_[t] <= from) continue;
      const double rise = (cost_of(t) - from_cost) / (rate_[t] - from);
      if (rise > least || (rise == least && rate_[t] <= rate_[best])) continue;
      least = rise;
      best = t;
    }
    if (best == kIdle) return false;
    slope = least;
    to_type = best;
    to = rate_[best];
    return true;
  }

  [[nodiscard]] double cost_of(std::size_t type) const {
    return type == kIdle ? 0.0 : price_[type] * gpus_;
  }

  std::size_t from_type = kIdle, to_type = kIdle;
  double from = 0.0, to = 0.0;  ///< progress at the ends of the segment
  double slope = 0.0;

 private:
  std::span<const double> rate_, price_;
  double gpus_;
};

}  // namespace berth::solver
