// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/paired_statistics.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "berth/base/assert.hpp"

namespace berth::papers {

double t_quantile(std::size_t degrees) {
  BERTH_EXPECT(degrees > 0);
  constexpr std::array kExact = {12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836,
                                 2.446911851,  2.364624252, 2.306004135, 2.262157163, 2.228138852};
  if (degrees <= kExact.size()) return kExact[degrees - 1];
  // Cornish and Fisher's expansion about the normal quantile.
  const double z = 1.959963985, n = static_cast<double>(degrees);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n) +
         (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n);
}

Interval mean_interval(std::span<const double> values) {
  BERTH_EXPECT(!values.empty());
  const double n = static_cast<double>(values.size());
  double sum = 0.0, squares = 0.0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  if (values.size() < 2) return {mean, std::numeric_limits<double>::infinity()};
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, t_quantile(values.size() - 1) * std::sqrt(squares / (n - 1.0) / n)};
}

Interval paired_difference(std::span<const double> a, std::span<const double> b) {
  BERTH_EXPECT(a.size() == b.size());
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return mean_interval(difference);
}

}  // namespace berth::papers
