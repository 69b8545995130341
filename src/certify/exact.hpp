// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/base/int128.hpp"

namespace berth::certify {

/// Larger than any sum that `unusable` lets through (2^122); stands for "does not fit".
inline constexpr Int128 kImpossible = Int128{1} << 126;

/// Convert doubles to fixed point and back, rounded in the direction of the name. Beyond 2^122 a
/// value counts as 2^122, and NaN as 0 (`unusable` refuses both); x stays below 2^126.
Int128 fixed_up(double v, int scale_log2);
Int128 fixed_down(double v, int scale_log2);
double double_up(Int128 x, int scale_log2);

/// ceil(a b / c) for b >= 0, c > 0.
constexpr Int128 times_over_up(Int128 a, Int128 b, Int128 c) {
  const Int128 product = a * b;
  return product <= 0 ? product / c : (product + c - 1) / c;
}

}  // namespace berth::certify
