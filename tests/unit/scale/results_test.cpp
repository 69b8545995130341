// SPDX-License-Identifier: Apache-2.0
#include "berth/scale/results.hpp"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::scale {
namespace {

ScalingSweep two_points() {
  ScalingSweep sweep{.scaling = Scaling::strong,
                     .instance = "a \"quoted\" one",
                     .machine = "here",
                     .points = {},
                     .network = {},
                     .forecasts = {}};
  for (const int ranks : {1, 2}) {
    ScalingPoint p{.ranks = ranks, .plan_digest = "d", .gap = 0.001};
    p.solve_seconds = {4.0 / ranks, 4.0 / ranks};
    p.median_seconds = 4.0 / ranks;
    p.stages = {{"relax", std::vector<RankShare>(static_cast<std::size_t>(ranks))}};
    p.stages[0].ranks[0] = {.work = 3.0, .waiting = 1.0, .messages = 5, .bytes = 7};
    p.peak_memory_mib.assign(static_cast<std::size_t>(ranks), 64.0);
    sweep.points.push_back(p);
  }
  sweep.forecasts.push_back({.ranks = 1024, .seconds = 0.5});
  return sweep;
}

TEST(Efficiency, is_one_when_time_halves_with_twice_the_ranks) {
  ScalingSweep sweep = two_points();
  EXPECT_DOUBLE_EQ(efficiency(sweep, sweep.points[1]), 1.0);
  sweep.scaling = Scaling::weak;
  EXPECT_DOUBLE_EQ(efficiency(sweep, sweep.points[1]), 2.0);
}

TEST(StageShares, imbalance_is_slowest_over_mean) {
  const ScalingSweep sweep = two_points();
  EXPECT_DOUBLE_EQ(sweep.points[1].stages[0].imbalance(), 2.0);
  EXPECT_DOUBLE_EQ(StageShares{}.imbalance(), 0.0);
}

TEST(Csv, has_one_line_for_each_stage_and_rank) {
  std::istringstream text(csv_text(two_points()));
  std::string line;
  std::vector<std::string> lines;
  while (std::getline(text, line)) lines.push_back(line);
  ASSERT_EQ(lines.size(), 1U + 2 + 3 + 1);
  for (const std::string& l : lines) EXPECT_EQ(std::ranges::count(l, ','), 13) << l;
  EXPECT_EQ(lines[2], "measured,1,1,0,0,0,relax,0,3.000000,1.000000,5,7,,64.0");
  EXPECT_THAT(lines.back(), testing::StartsWith("modelled,1024,"));
}

TEST(Table, says_what_is_modelled_and_whether_plans_agree) {
  ScalingSweep sweep = two_points();
  EXPECT_THAT(table_text(sweep), testing::HasSubstr("MODELLED, not measured"));
  EXPECT_THAT(table_text(sweep), testing::HasSubstr("plan digest d: the same in every run"));
  sweep.points[1].plan_digest = "e";
  EXPECT_THAT(table_text(sweep), testing::HasSubstr("NOT THE SAME"));
}

}  // namespace
}  // namespace berth::scale
