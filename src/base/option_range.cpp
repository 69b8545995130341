// SPDX-License-Identifier: Apache-2.0
#include "berth/base/option_range.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "berth/base/error.hpp"

namespace berth {
namespace {

std::string short_number(double value) {
  std::array<char, 32> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%.10g", value));
  return text.data();
}

bool in_range(double value, const OptionRange& range) {
  const bool above = range.without_least ? value > range.least : value >= range.least;
  const bool below = range.without_most ? value < range.most : value <= range.most;
  return above && below && std::isfinite(value);
}

}  // namespace

std::string to_string(const OptionRange& range) {
  std::string text = (range.without_least ? "above " : "at least ") + short_number(range.least);
  if (range.most < kInfinity)
    text += (range.without_most ? " and below " : " and at most ") + short_number(range.most);
  return text;
}

void expect_option(std::string_view option, double value, const OptionRange& range) {
  if (in_range(value, range)) return;
  throw InputError({.file = "", .line = 0, .field = std::string(option)},
                   "is " + short_number(value) + ", and has to be " + to_string(range));
}

}  // namespace berth
