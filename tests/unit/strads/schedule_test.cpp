// SPDX-License-Identifier: Apache-2.0
#include "berth/strads/schedule.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "berth/strads/pipeline.hpp"

namespace berth::strads {
namespace {

std::vector<std::int64_t> ids(std::span<const Block> blocks, std::span<const std::size_t> chosen) {
  std::vector<std::int64_t> result;
  for (const std::size_t i : chosen) result.push_back(blocks[i].id);
  return result;
}

TEST(Schedule, takes_the_largest_ties_by_id) {
  const std::vector<Block> blocks{{7, 1.0}, {3, 2.0}, {2, 1.0}, {9, 0.0}};
  EXPECT_EQ(ids(blocks, schedule(blocks, 3, 0, 0, {.rule = SelectionRule::largest})),
            (std::vector<std::int64_t>{3, 2, 7}));
  EXPECT_EQ(schedule(blocks, 9, 0, 0).size(), 4U);
  EXPECT_TRUE(schedule({}, 3, 0, 0).empty());
}

TEST(Schedule, breaks_ties_by_rank_before_the_id) {
  const std::vector<Block> blocks{{7, 1.0, 0}, {3, 2.0, 3}, {2, 1.0, 2}, {9, 1.0, 1}};
  EXPECT_EQ(ids(blocks, schedule(blocks, 4, 0, 0, {.rule = SelectionRule::largest})),
            (std::vector<std::int64_t>{3, 7, 9, 2}));
}

TEST(Schedule, sampled_does_not_depend_on_who_holds_which_block) {
  std::vector<Block> blocks;
  for (int i = 0; i < 50; ++i) blocks.push_back({i, static_cast<double>(i % 7)});
  const ScheduleOptions options{.rule = SelectionRule::sampled};
  constexpr std::uint64_t kSeed = 4;
  const auto expected = ids(blocks, schedule(blocks, 10, 3, kSeed, options));
  std::mt19937 shuffle(1);
  for (int i = 0; i < 5; ++i) {
    std::ranges::shuffle(blocks, shuffle);
    EXPECT_EQ(ids(blocks, schedule(blocks, 10, 3, kSeed, options)), expected);
  }
  EXPECT_NE(ids(blocks, schedule(blocks, 10, 4, kSeed, options)), expected);
}

/// The first choice of many rounds falls on a block as often as its weight says; weights here are
/// 1.5, 2.5, 4.5, 0.5 + the floor of half the mean 2.25.
TEST(Schedule, samples_in_proportion_to_importance_and_floor) {
  const std::vector<Block> blocks{{0, 1.5}, {1, 2.5}, {2, 4.5}, {3, 0.5}};
  constexpr int kRounds = 20000;
  std::vector<int> first(4, 0);
  for (int round = 0; round < kRounds; ++round) {
    ++first[schedule(blocks, 1, round, 9, {.rule = SelectionRule::sampled, .floor = 0.5})[0]];
  }
  constexpr double kFloor = 0.5 * 2.25, kSum = 9.0 + 4 * kFloor;
  for (std::size_t i = 0; i < 4; ++i) {
    const double expected = (blocks[i].importance + kFloor) / kSum;
    EXPECT_NEAR(first[i] / double{kRounds}, expected, 0.012) << i;  // three deviations
  }
}

TEST(Schedule, of_no_importance_draws_evenly) {
  const std::vector<Block> blocks{{0, 0.0}, {1, 0.0}};
  int first = 0;
  for (int round = 0; round < 1000; ++round) {
    first += schedule(blocks, 1, round, 0, {.rule = SelectionRule::sampled})[0] == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first, 500, 60);
}

TEST(Turns, give_every_source_one_round_in_so_many) {
  for (int source = 0; source < 7; ++source) {
    int turns = 0;
    for (int round = 10; round < 13; ++round) turns += has_turn(source, round, 3) ? 1 : 0;
    EXPECT_EQ(turns, 1);
    EXPECT_TRUE(has_turn(source, 5, 1));
  }
}

/// 5 4 3 3 3 on two workers: 5+3 and 4+3+3; the best would be 9 and 9, the bound is 7/6 of that.
TEST(Dispatch, gives_the_longest_first_to_the_least_loaded) {
  EXPECT_EQ(dispatch(std::vector<std::int64_t>{3, 5, 3, 4, 3}, 2),
            (std::vector<int>{1, 0, 0, 1, 1}));
  EXPECT_EQ(dispatch(std::vector<std::int64_t>{1, 1}, 3), (std::vector<int>{0, 1}));
  EXPECT_TRUE(dispatch({}, 2).empty());
}

TEST(Pipeline, gives_back_what_is_so_many_rounds_old) {
  Pipeline<int> at_once(0), later(2);
  EXPECT_EQ(at_once.exchange(7), 7);
  EXPECT_FALSE(later.exchange(1));
  EXPECT_FALSE(later.exchange(2));
  EXPECT_EQ(later.exchange(3), 1);
  EXPECT_EQ(later.pending().size(), 2U);
}

}  // namespace
}  // namespace berth::strads
