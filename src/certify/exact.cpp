// SPDX-License-Identifier: Apache-2.0
#include "exact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace berth::certify {

namespace {

/// std::ldexp(v, exponent), by one product where 2^exponent is a normal number.
double times_power_of_two(double v, int exponent) {
  constexpr int kBias = 1023, kMantissa = 52;  // IEEE 754 binary64
  if (exponent <= -kBias || exponent > kBias) return std::ldexp(v, exponent);
  return v * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kBias) << kMantissa);
}

}  // namespace

Int128 fixed_up(double v, int scale_log2) {
  if (std::isnan(v)) return 0;
  const double scaled = std::clamp(times_power_of_two(v, scale_log2), -0x1p122, 0x1p122);
  if (v > 0.0 && scaled <= 0.0) return 1;  // underflow
  return static_cast<Int128>(std::ceil(scaled));
}

Int128 fixed_down(double v, int scale_log2) { return -fixed_up(-v, scale_log2); }

double double_up(Int128 x, int scale_log2) {
  double nearest = static_cast<double>(x);
  if (static_cast<Int128>(nearest) < x) {
    nearest = std::nextafter(nearest, std::numeric_limits<double>::infinity());
  }
  return std::ldexp(nearest, -scale_log2);
}

}  // namespace berth::certify
