// SPDX-License-Identifier: Apache-2.0
#include "draws.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace berth::generate {
namespace {

TEST(Power, agrees_with_the_library) {
  for (const double base : {0.3, 1.0, 2.0, 48.0, 512.0}) {
    for (const double exponent : {-8.0, -2.7, -0.5, 0.0, 0x1p-50, 0.1, 1.0, 3.14159, 7.999}) {
      const double expected = std::pow(base, exponent);
      EXPECT_NEAR(power(base, exponent) / expected, 1.0, 1e-13) << base << '^' << exponent;
    }
  }
}

TEST(LogNormal, has_the_mean_and_deviation_of_its_name) {
  constexpr int kDraws = 100'000;
  double sum = 0.0;
  double logs = 0.0;
  double squares = 0.0;
  Dice dice(1, Draw::job, 0);
  for (int i = 0; i < kDraws; ++i) {
    const double x = static_cast<double>(log_normal_milli(dice)) / 1000.0;
    ASSERT_GE(x, 0.15);
    ASSERT_LT(x, 4.8);
    sum += x;
    logs += std::log(x);
    squares += std::log(x) * std::log(x);
  }
  EXPECT_NEAR(sum / kDraws, std::exp(0.18), 0.01);
  EXPECT_NEAR(logs / kDraws, 0.0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 0.6, 0.02);
}

TEST(DrawIndex, follows_the_weights) {
  constexpr std::array<double, 3> kWeights{1.0, 0.0, 3.0};
  std::array<int, 3> seen{};
  Dice dice(1, Draw::job, 0);
  for (int i = 0; i < 10'000; ++i) ++seen[draw_index(dice, kWeights, [](double w) { return w; })];
  EXPECT_NEAR(seen[0], 2500, 150);
  EXPECT_EQ(seen[1], 0);
}

}  // namespace
}  // namespace berth::generate
