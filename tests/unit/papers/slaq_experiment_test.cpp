// SPDX-License-Identifier: Apache-2.0
#include "result_values.hpp"
#include "slaq_world.hpp"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "berth/papers/paired_statistics.hpp"

namespace berth::bench {
namespace {

/// Part by which a is below b, for certain: from the end of the interval of the paired difference.
double surely_below(const std::vector<double>& a, const std::vector<double>& b) {
  return -papers::paired_difference(a, b).high() / papers::mean_interval(b).mean;
}

TEST(SlaqExperiment, QualityComesSoonerAndEndsLater) {
  std::vector<ResultRow> rows;
  compare_quality(rows, "load 1.15", {}, 8);
  const auto of = [&](std::string_view metric, std::string_view scheduler) -> const auto& {
    return values(rows, "load 1.15", metric, scheduler);
  };
  const auto loss = "mean normalised loss", to_90 = "time to 90 %, s", exit = "time to exit, s";
  EXPECT_GE(surely_below(of(loss, "slaq"), of(loss, "fair")), 0.25);
  EXPECT_GE(surely_below(of(to_90, "slaq"), of(to_90, "fair")), 0.30);
  EXPECT_GT(surely_below(of(exit, "fair"), of(exit, "slaq")), 0.0);  // the price
  EXPECT_GT(surely_below(of(loss, "berth"), of(loss, "slaq")), 0.0);
  EXPECT_GT(surely_below(of(to_90, "berth"), of(to_90, "slaq")), 0.0);
}

}  // namespace
}  // namespace berth::bench
