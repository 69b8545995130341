// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/horizon_rounds.hpp"

#include "random_horizon.hpp"
#include "timed_plan_text.hpp"
#include "with_petsc.hpp"

#include <array>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "berth/certify/horizon.hpp"
#include "berth/horizon/machine_timeline.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::coordinator {
namespace {

using horizon::CurveId;
using horizon::Plan;
using horizon::Problem;
using horizon::ProblemBuilder;
using horizon::TaskGroup;

class HorizonRoundsTest : public berth::test::WithPetsc<> {
 protected:
  static HorizonRounds rounds(const Problem& problem, const solver::HorizonBound& bound,
                              std::size_t shards = 2) {
    // 50 reinsertions of a shard of four machines
    return {
        problem, bound, shards, nullptr, nullptr, {}, {.machine_visits = 5'600, .round_share = 1}};
  }
};

/// Machines of 4 GPUs that are shards, and jobs of 4 GPUs for 10 s.
Problem shards_of_one(int machines, int jobs) {
  ProblemBuilder builder;
  std::vector<PoolId> pools;
  for (int m = 0; m < machines; ++m) pools.push_back(builder.add_pool(CurveId(0), 1, 4));
  const auto any = builder.add_pool_set(pools);
  for (int j = 0; j < jobs; ++j) {
    (void)builder.add_job(0);
    builder.add_option(any, 10, std::array{TaskGroup{1, 4}},
                       builder.add_cost(std::array{horizon::flow_cost(0, 1.0)}));
  }
  return builder.build();
}

/// All jobs in one queue on the first machine.
PlanInShards all_on_first(const Problem& problem) {
  PlanInShards state;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const auto first = static_cast<std::int32_t>(j);
    state.plan.starts.push_back({.option = 0,
                                 .pool = PoolId(0),
                                 .start = 10 * static_cast<horizon::Seconds>(j),
                                 .shares = {first, first + 1}});
    state.plan.shares.push_back({.machine = MachineId(0), .group = 0, .tasks = 1});
    state.homes.push_back(0);
  }
  assign_devices(problem, state.plan);
  return state;
}

TEST_F(HorizonRoundsTest, a_job_that_waits_late_goes_to_the_shard_with_room) {
  const Problem problem = shards_of_one(2, 2);
  const auto bound = solver::bound_horizon(problem, {.intervals = 4});
  HorizonRounds exchange = rounds(problem, bound);
  ASSERT_TRUE(exchange.resume(all_on_first(problem)));
  EXPECT_EQ(exchange.cost(), 30.0);
  const HorizonRoundReport report = exchange.step(1);
  EXPECT_EQ(report.moved, 1);
  EXPECT_EQ(report.refused, 0);
  EXPECT_EQ(exchange.cost(), 20.0);
  const PlanInShards found = exchange.state();
  EXPECT_EQ(found.plan.starts[1].start, 0);
  EXPECT_NE(found.plan.starts[0].pool, found.plan.starts[1].pool);
  EXPECT_TRUE(certify::check_on_machines(problem, found.plan).empty());
}

TEST_F(HorizonRoundsTest, a_job_goes_to_one_shard_and_bids_for_the_same_room_are_refused) {
  const Problem problem = shards_of_one(2, 6);
  const auto bound = solver::bound_horizon(problem, {.intervals = 4});
  HorizonRounds exchange = rounds(problem, bound);
  ASSERT_TRUE(exchange.resume(all_on_first(problem)));
  const HorizonRoundReport report = exchange.step(1);
  // the second machine is free: everybody bids for its first seconds, two get half of their bid
  EXPECT_GE(report.bids, 3);
  EXPECT_GE(report.moved, 2);
  EXPECT_GE(report.refused, 1);
  EXPECT_EQ(exchange.step(2).moved + report.moved, 3);
  EXPECT_EQ(exchange.cost(), 2.0 * (10 + 20 + 30));
  EXPECT_TRUE(certify::check_on_machines(problem, exchange.state().plan).empty());
}

TEST_F(HorizonRoundsTest, a_job_that_two_shards_bid_for_goes_to_one_of_them) {
  const Problem problem = shards_of_one(3, 2);
  const auto bound = solver::bound_horizon(problem, {.intervals = 4});
  HorizonRounds exchange = rounds(problem, bound, 3);
  ASSERT_TRUE(exchange.resume(all_on_first(problem)));
  const HorizonRoundReport report = exchange.step(1);
  EXPECT_EQ(report.bids, 2);
  EXPECT_EQ(report.moved, 1);
  EXPECT_EQ(exchange.cost(), 20.0);
  EXPECT_TRUE(certify::check_on_machines(problem, exchange.state().plan).empty());
}

TEST_F(HorizonRoundsTest, a_gang_larger_than_a_shard_is_planned_over_both) {
  Problem problem = [] {
    ProblemBuilder builder;
    const PoolId pool = builder.add_pool(CurveId(0), 0, 4);
    for (int m = 0; m < 4; ++m) {
      (void)builder.add_machine({.pool = {}, .gpus = 4, .pod = PodId(m / 2)});
    }
    const auto all = builder.add_pool_set(std::array{pool});
    for (int j = 0; j < 7; ++j) {
      (void)builder.add_job(0);
      const std::int32_t tasks = j == 0 ? 3 : 1;
      builder.add_option(all, 10, std::array{TaskGroup{tasks, 4}},
                         builder.add_cost(std::array{horizon::flow_cost(0, j == 0 ? 50.0 : 1.0)}));
    }
    return builder.build();
  }();
  const auto bound = solver::bound_horizon(problem, {.intervals = 4});
  HorizonRounds exchange = rounds(problem, bound);
  exchange.plan();
  EXPECT_TRUE(exchange.changes_with_plan());
  (void)exchange.step(1);
  const Plan plan = exchange.completed();
  EXPECT_TRUE(certify::check_on_machines(problem, plan).empty());
  for (const auto& start : plan.starts) EXPECT_TRUE(start.placed());
  EXPECT_EQ(plan.starts[0].start, 0);  // it is worth all others
  EXPECT_EQ(cost_of(problem, plan), 500.0 + 10.0 + 4 * 20.0 + 30.0);
}

TEST_F(HorizonRoundsTest, every_round_has_a_feasible_plan_that_is_not_dearer) {
  std::int64_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const auto kind : {test::HorizonCost::flow, test::HorizonCost::table}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", costs " << static_cast<int>(kind));
      const Problem problem = test::random_horizon({.seed = seed,
                                                    .jobs = 60,
                                                    .longest = 30,
                                                    .span = 50,
                                                    .machines = 4,
                                                    .gpus = 8,
                                                    .dependencies = seed % 3 == 0},
                                                   kind);
      const auto bound = solver::bound_horizon(problem, {.intervals = 16});
      HorizonRounds exchange = rounds(problem, bound);
      exchange.plan();
      double before = std::numeric_limits<double>::infinity();
      for (int round = 1; round <= 3; ++round) {
        moved += exchange.step(round).moved;
        const Plan plan = exchange.state().plan;
        EXPECT_TRUE(certify::check_on_machines(problem, plan).empty());
        EXPECT_NEAR(exchange.cost(), cost_of(problem, plan), 1e-6);
        if (kind == test::HorizonCost::table) {
          EXPECT_LE(exchange.cost(), before + 1e-9);
        }
        before = exchange.cost();
      }
      const Plan complete = exchange.completed();
      EXPECT_TRUE(certify::check_on_machines(problem, complete).empty());
      EXPECT_GE(cost_of(problem, complete), bound.bound - 1e-6);
    }
  }
  EXPECT_GT(moved, 0);
}

TEST_F(HorizonRoundsTest, shards_made_from_the_plan_of_a_round_go_on_as_those_that_made_it) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Problem problem = test::random_horizon(
        {.seed = seed, .jobs = 60, .longest = 30, .span = 50, .machines = 8, .gpus = 4},
        seed % 2 == 0 ? test::HorizonCost::flow : test::HorizonCost::table);
    // no job larger than half of a shard
    for (auto& group : problem.task_groups) group.tasks = std::min(group.tasks, 4);
    for (auto& option : problem.options) {
      const auto& group = problem.tasks_of(option).front();
      option.gpus = horizon::Gpus{group.tasks} * group.gpus;
      option.rent = horizon::rent_of_gpus(option.gpus, 0);
    }
    const auto bound = solver::bound_horizon(problem, {.intervals = 16});
    HorizonRounds one = rounds(problem, bound), other = rounds(problem, bound);
    one.plan();
    EXPECT_FALSE(one.changes_with_plan());
    (void)one.step(1);
    ASSERT_TRUE(other.resume(one.state()));
    for (int round = 2; round <= 3; ++round) {
      (void)one.step(round);
      (void)other.step(round);
      const PlanInShards here = one.state(), there = other.state();
      EXPECT_EQ(test::text_of(here.plan), test::text_of(there.plan));
      EXPECT_EQ(here.homes, there.homes);
    }
  }
}

}  // namespace
}  // namespace berth::coordinator
