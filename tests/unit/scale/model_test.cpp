// SPDX-License-Identifier: Apache-2.0
// Hand-made points: relax 10 s of which 8 are evaluations of 4 blocks, two shards of 3 and 5 s.
#include "berth/scale/model.hpp"

#include <gtest/gtest.h>

#include "berth/base/assert.hpp"

namespace berth::scale {
namespace {

using comm::Call;

constexpr Network kRound{.latency = 2, .overhead = 1, .gap = 3, .gap_per_byte = 0.5, .polling = 10};

ScalingPoint alone() {
  ScalingPoint p{.ranks = 1, .jobs = 1000, .shards = 2};
  p.stages = {{"load", {{.work = 7}}},
              {"relax", {{.work = 10}}},
              {"round", {{.work = 9}}},
              {"coordinate", {{.work = 4}}},
              {"certify", {{.work = 1}}}};
  p.evaluate_seconds = {8};
  p.shard_seconds = {3, 5};
  return p;
}

/// `ranks` ranks: 3 broadcasts of 100 B, 3 reductions of 100 B from all but the root, 2 exchanges
/// of 16 B between any two.
ScalingPoint together(int ranks) {
  ScalingPoint p = alone();
  p.ranks = ranks;
  p.calls = {{"relax", Call::broadcast, 3, 300},
             {"relax", Call::reduce, 3, 300 * (ranks - 1)},
             {"coordinate", Call::all_to_all, 2, 32 * ranks * (ranks - 1)}};
  return p;
}

TEST(CollectiveTime, follows_trees_and_pairs) {
  EXPECT_EQ(collective_time(Call::broadcast, 1, 100, kRound), 0.0);
  EXPECT_EQ(collective_time(Call::barrier, 8, 0, kRound), 3 * 4 + 10);
  EXPECT_EQ(collective_time(Call::barrier, 9, 0, kRound), 4 * 4 + 10);
  EXPECT_EQ(collective_time(Call::broadcast, 8, 6, kRound), 3 * (4 + 3) + 10);
  EXPECT_EQ(collective_time(Call::all_reduce, 2, 6, kRound), 4 + 3 + 10);
  EXPECT_EQ(collective_time(Call::all_gather, 8, 6, kRound), 3 * 4 + 3 + 10);
  EXPECT_EQ(collective_time(Call::all_to_all, 8, 6, kRound), 4 + 6 * 3 + 3 + 10);
}

TEST(ForecastCalls, of_a_strong_sweep_are_exact) {
  const std::vector<ScalingPoint> measured{alone(), together(2), together(3), together(4)};
  EXPECT_EQ(forecast_calls(measured, Scaling::strong, 16), together(16).calls);
  EXPECT_EQ(forecast_calls(measured, Scaling::strong, 4096), together(4096).calls);
  EXPECT_TRUE(forecast_calls(measured, Scaling::strong, 1).empty());
  EXPECT_TRUE(forecast_calls({measured.data(), 1}, Scaling::strong, 16).empty());  // one rank only
}

TEST(ForecastCalls, of_a_weak_sweep_grow_in_bytes) {
  const std::vector<ScalingPoint> measured{alone(), together(2), together(4)};
  const auto calls = forecast_calls(measured, Scaling::weak, 8);
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[1].messages, 3);
  EXPECT_EQ(calls[1].bytes, 1800);
}

double work(const ScalingForecast& f, const std::string& stage) {
  for (const StageForecast& s : f.stages) {
    if (s.stage == stage) return s.work;
  }
  return -1;
}

TEST(ScalingForecast, divides_what_can_be_divided) {
  const std::vector<ScalingPoint> measured{alone(), together(2)};
  const ScalingForecast two = forecast(measured, Scaling::strong, 2, {1, 0}, kRound);
  EXPECT_EQ(work(two, "relax"), 2 + 8 / 2);
  EXPECT_EQ(work(two, "round"), 1 + 5);
  EXPECT_EQ(work(two, "coordinate"), 2);
  EXPECT_EQ(work(two, "certify"), 1);
  const ScalingForecast many = forecast(measured, Scaling::strong, 64, {0, 1}, kRound);
  EXPECT_EQ(work(many, "relax"), 2 + 8 / 4);  // four blocks
  EXPECT_EQ(work(many, "round"), 1 + 5);
  EXPECT_THROW(forecast(measured, Scaling::strong, 2, {0}, kRound), BrokenContract);
}

TEST(ScalingForecast, adds_the_stages_without_loading) {
  const std::vector<ScalingPoint> measured{alone()};
  const ScalingForecast one = forecast(measured, Scaling::strong, 1, {0, 0}, kRound);
  EXPECT_EQ(one.seconds, 10 + 9 + 4 + 1);
  const std::vector<ScalingPoint> both{alone(), together(2)};
  const ScalingForecast two = forecast(both, Scaling::strong, 2, {1, 0}, kRound);
  // 3 x (broadcast of 100 B + reduction of 100 B), 2 x exchange of 32 B / 2 ranks / ... = 16 B each
  const double talk = 3 * 2 * (4 + 50 + 10) + 2 * (4 + 8 + 10);
  EXPECT_NEAR(two.seconds, 6 + 6 + 2 + 1 + talk / 1e6, 1e-9);
  EXPECT_EQ(two.messages, 8);
  EXPECT_EQ(two.bytes, 300 + 300 + 64);
}

TEST(ScalingForecast, of_a_weak_sweep_grows_where_one_rank_does_it_all) {
  const std::vector<ScalingPoint> measured{alone()};
  const ScalingForecast four = forecast(measured, Scaling::weak, 4, {}, kRound);
  EXPECT_EQ(work(four, "relax"), 2 * 4 + 8);
  EXPECT_EQ(work(four, "round"), 9);
  EXPECT_EQ(work(four, "certify"), 4);
}

}  // namespace
}  // namespace berth::scale
