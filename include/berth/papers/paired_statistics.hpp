// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

/// Means and intervals of experiments with seeds.
namespace berth::papers {

/// Mean of a sample and half the width of its 95 % interval by Student's t.
struct Interval {
  double mean = 0.0;
  double half_width = 0.0;  ///< infinite for fewer than two values

  [[nodiscard]] double low() const { return mean - half_width; }
  [[nodiscard]] double high() const { return mean + half_width; }
  [[nodiscard]] bool excludes(double value) const { return value < low() || value > high(); }
};

/// 97.5 % quantile of Student's t, within 0.1 % from 3 degrees of freedom on; 1 and 2: exact.
/// @pre degrees > 0
[[nodiscard]] double t_quantile(std::size_t degrees);

[[nodiscard]] Interval mean_interval(std::span<const double> values);

/// Interval of a - b, pair by pair: both schedulers saw the same instance. @pre equal sizes
[[nodiscard]] Interval paired_difference(std::span<const double> a, std::span<const double> b);

}  // namespace berth::papers
