// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace berth::solver {

/// of the step to the boundary; usual in the literature (Mehrotra 1992)
inline constexpr double kBoundaryStep = 0.99;

/// Largest step in [0, 1] that keeps v + step d > 0, scaled by the boundary factor.
inline double step_length(std::span<const double> v, std::span<const double> d) {
  double step = 1.0 / kBoundaryStep;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (d[i] < 0.0) step = std::min(step, -v[i] / d[i]);
  }
  return std::min(1.0, kBoundaryStep * step);
}

/// v += step d
inline void step_along(std::vector<double>& v, std::span<const double> d, double step) {
  for (std::size_t i = 0; i < v.size(); ++i) v[i] += step * d[i];
}

}  // namespace berth::solver
