// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/base/infinity.hpp"

namespace berth {

/// Values that an option may have.
struct OptionRange {
  double least = 0.0, most = kInfinity;
  bool without_least = false, without_most = false;  ///< the end itself is out
};

/// Options that start at a value, or just above it.
constexpr OptionRange at_least(double least) { return {.least = least}; }
constexpr OptionRange above(double least) { return {.least = least, .without_least = true}; }

/// "at least 1", "above 0 and at most 1", ...
std::string to_string(const OptionRange& range);

/// @param option  with the name of what it belongs to, e.g. "sjf-bco: horizon"
/// @throws InputError: the value is out of the range, or no number; names option, value and range
void expect_option(std::string_view option, double value, const OptionRange& range);

}  // namespace berth
