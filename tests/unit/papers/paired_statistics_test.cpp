// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/paired_statistics.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace berth::papers {
namespace {

TEST(PairedStatistics, QuantilesOfTables) {
  EXPECT_NEAR(t_quantile(1), 12.7062, 1e-4);
  EXPECT_NEAR(t_quantile(11), 2.20099, 5e-4);
  EXPECT_NEAR(t_quantile(29), 2.04523, 1e-4);
  EXPECT_NEAR(t_quantile(39), 2.02269, 1e-4);
  EXPECT_NEAR(t_quantile(1'000'000), 1.95996, 1e-4);
}

TEST(PairedStatistics, MeanAndInterval) {
  const std::array values = {2.0, 4.0, 6.0};
  const Interval interval = mean_interval(values);
  EXPECT_DOUBLE_EQ(interval.mean, 4.0);
  EXPECT_NEAR(interval.half_width, 4.302652730 * 2.0 / std::sqrt(3.0), 1e-9);
  EXPECT_TRUE(std::isinf(mean_interval(std::array{1.0}).half_width));
}

TEST(PairedStatistics, PairsSeeWhatMeansHide) {
  const std::array a = {10.0, 20.0, 30.0, 40.0}, b = {11.0, 21.2, 30.9, 41.1};
  EXPECT_TRUE(paired_difference(a, b).excludes(0.0));
  EXPECT_FALSE(mean_interval(a).excludes(mean_interval(b).mean));
}

}  // namespace
}  // namespace berth::papers
