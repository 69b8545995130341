// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"

namespace berth::papers::testing {

/// What is tried with a value out of range, and one in it.
struct OptionCase {
  std::string option;  ///< as the error has it
  std::string range;
  std::function<void(double)> use;
  std::vector<double> out, in;
};

inline void expect_range(const OptionCase& c) {
  for (const double value : c.out) {
    try {
      c.use(value);
      ADD_FAILURE() << c.option << ' ' << value;
    } catch (const InputError& error) {
      EXPECT_EQ(error.where().field, c.option) << error.what();
      EXPECT_NE(error.problem().find("has to be " + c.range), std::string::npos) << error.what();
    }
  }
  for (const double value : c.in) EXPECT_NO_THROW(c.use(value)) << c.option << ' ' << value;
}

inline void expect_ranges(const std::vector<OptionCase>& cases) {
  for (const OptionCase& c : cases) expect_range(c);
}

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline std::int32_t whole(double v) { return static_cast<std::int32_t>(v); }

}  // namespace berth::papers::testing
