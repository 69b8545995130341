// SPDX-License-Identifier: Apache-2.0
#include "draws.hpp"

#include <cmath>

namespace berth::generate {
namespace {

/// Thousandths of exp(0.6 z) at the quantiles 0/32 .. 32/32 of z; see log_normal_milli.
constexpr std::array<std::int64_t, 33> kQuantiles{
    150,  327,  398,  453,  501,  546,  587,  628,  667,  706,  746,
    786,  826,  867,  910,  954,  1000, 1048, 1099, 1153, 1211, 1273,
    1341, 1415, 1499, 1593, 1703, 1833, 1994, 2205, 2510, 3058, 4800};

}  // namespace

std::int64_t log_normal_milli(Dice& dice) {
  const std::size_t at = dice.below(kQuantiles.size() - 1);
  const std::int64_t width = kQuantiles[at + 1] - kQuantiles[at];
  return kQuantiles[at] + static_cast<std::int64_t>(dice.below(static_cast<std::size_t>(width)));
}

double power(double base, double exponent) {
  if (exponent < 0.0) return 1.0 / power(base, -exponent);
  double result = 1.0;
  for (; exponent >= 1.0; exponent -= 1.0) result *= base;
  while (exponent > 0.0) {  // terminates: every step doubles the lowest set bit
    base = std::sqrt(base);
    exponent *= 2.0;
    if (exponent >= 1.0) {
      result *= base;
      exponent -= 1.0;
    }
  }
  return result;
}

}  // namespace berth::generate
