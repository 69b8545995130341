// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/randomised_rounding.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace berth::papers {
namespace {

// Tables of check values for PD-ORS (three bad events) and SMD (two).
TEST(RandomisedRounding, gains_have_their_check_values) {
  EXPECT_NEAR(packing_gain(20, {0.5, 401, 3}), 0.355584, 1e-6);
  EXPECT_NEAR(packing_gain(1000, {0.5, 401, 3}), 0.858403, 1e-6);
  EXPECT_NEAR(packing_gain(20, {0.5, 5, 3}), 0.496637, 1e-6);
  EXPECT_NEAR(packing_gain(20, {0.1, 401, 3}), 0.324134, 1e-6);
  EXPECT_NEAR(covering_gain(20, {0.5, 1, 3}), 1.522256, 1e-6);
  EXPECT_NEAR(covering_gain(20, {0.5, 2, 3}), 1.637984, 1e-6);
  EXPECT_NEAR(covering_gain(5, {0.5, 1, 3}), 2.277656, 1e-6);
  EXPECT_NEAR(covering_gain(20, {0.1, 1, 3}), 1.777547, 1e-6);
  const double widths[] = {5, 10, 20, 50};
  const double gains[] = {0.297044, 0.413521, 0.530354, 0.666916};
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(packing_gain(widths[k], {0.5, 4, 2}), gains[k], 1e-6);
}

TEST(RandomisedRounding, leaves_whole_numbers_and_keeps_means) {
  const double x[] = {3.0, 0.25, 1.75, 2.0 - 1e-12};
  double sum[4] = {};
  constexpr int kDraws = 20'000;
  for (std::uint64_t attempt = 0; attempt < kDraws; ++attempt) {
    const auto rounded = round_once(x, 7, attempt);
    for (std::size_t j = 0; j < 4; ++j) sum[j] += static_cast<double>(rounded[j]);
  }
  EXPECT_EQ(sum[0], 3.0 * kDraws);
  EXPECT_EQ(sum[3], 2.0 * kDraws);
  const double sigma = std::sqrt(0.25 * 0.75 / kDraws);
  EXPECT_NEAR(sum[1] / kDraws, 0.25, 4.5 * sigma);
  EXPECT_NEAR(sum[2] / kDraws, 1.75, 4.5 * sigma);
}

// 40 variables of 0.75 in a row of 30 (width 30): at the packing gain the row breaks in at most
// delta / 3 of the draws, and at gain 1 in far more; the covering gain keeps a row of 30 from
// below.
TEST(RandomisedRounding, gains_protect_rows_as_often_as_proved) {
  const std::vector<double> x(40, 0.75);
  const RoundingRisk risk{0.5, 1, 3};
  const auto share = [&](double gain, auto bad) {
    std::vector<double> scaled = x;
    for (double& v : scaled) v *= gain;
    int count = 0;
    for (std::uint64_t attempt = 0; attempt < 4000; ++attempt) {
      std::int64_t sum = 0;
      for (const std::int64_t v : round_once(scaled, 11, attempt)) sum += v;
      if (bad(sum)) ++count;
    }
    return count / 4000.0;
  };
  const auto over = [](std::int64_t sum) { return sum > 30; };
  const auto under = [](std::int64_t sum) { return sum < 30; };
  EXPECT_LE(share(packing_gain(30, risk), over), risk.delta / 3);
  EXPECT_GT(share(1.0, over), 0.3);
  EXPECT_LE(share(covering_gain(30, risk), under), risk.delta / 3);
  EXPECT_GT(share(1.0, under), 0.3);
}

TEST(RandomisedRounding, tries_until_accepted_and_gives_up) {
  const std::vector<double> x(8, 0.5);
  int asked = 0;
  const auto all_up = [&](std::span<const std::int64_t> v) {
    ++asked;
    return std::ranges::all_of(v, [](std::int64_t value) { return value == 1; });
  };
  ASSERT_TRUE(round_until(x, {1.0, 5000, 3}, all_up).has_value());
  EXPECT_GT(asked, 1);
  EXPECT_FALSE(round_until(x, {1.0, 5, 3}, [](auto) { return false; }).has_value());
  EXPECT_EQ(round_until(x, {2.0, 1, 3}, [](auto) { return true; }).value(),
            std::vector<std::int64_t>(8, 1));
}

}  // namespace
}  // namespace berth::papers
