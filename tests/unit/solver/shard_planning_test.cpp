// SPDX-License-Identifier: Apache-2.0
// A shard plans its own jobs: by patterns, by the dive, around running jobs, and by its searches.
#include "berth/solver/shard_planning.hpp"

#include "petsc_environment.hpp"
#include "shard_builder.hpp"

#include <gtest/gtest.h>

namespace berth::solver {
namespace {

using test::on;

TEST(ShardPlanning, packs_single_tasks_by_patterns) {
  auto plan = test::one_rack(2);
  for (const int gpus : {3, 3, 1, 1, 2}) plan.job({.gpus = gpus});
  test::WholeShard s(plan);
  solver::plan(s.shard, plan.jobs, std::vector<double>(s.pools.size(), 0.0));
  EXPECT_DOUBLE_EQ(s.shard.value(), 8.0);
  EXPECT_TRUE(s.shard.is_waiting(JobId(4)));
  EXPECT_FALSE(s.shard.task_prices().empty());
}

TEST(ShardPlanning, dives_where_there_are_gangs) {
  auto plan = test::one_rack(2);
  plan.job({.tasks = 2, .gpus = 4, .weight = 2.0});
  for (int j = 0; j < 8; ++j) plan.job({.gpus = 1});
  test::WholeShard s(plan);
  solver::plan(s.shard, plan.jobs, std::vector<double>(s.pools.size(), 0.5));
  EXPECT_DOUBLE_EQ(s.shard.value(), 16.0);
  EXPECT_EQ(s.shard.placement().size(), 1U);
}

TEST(ShardPlanning, evicts_a_running_job_for_a_better_one) {
  auto plan = test::one_rack(1);
  const JobId running = plan.job({.gpus = 4});
  const JobId better = plan.job({.gpus = 4, .weight = 2.0});
  test::WholeShard s(plan);
  add_running(s.shard, on(running, 0, 15));
  solver::plan(s.shard, std::vector{better}, std::vector<double>(s.pools.size(), 0.0));
  EXPECT_TRUE(s.shard.is_waiting(running));
  EXPECT_DOUBLE_EQ(s.shard.value(), 8.0);
}

TEST(ShardPlanning, tries_evicted_jobs_again_and_no_others) {
  auto plan = test::one_rack(1);
  for (const double weight : {1.0, 2.0, 3.0}) plan.job({.gpus = 4, .weight = weight});
  test::WholeShard s(plan);
  s.shard.restore(
      {.placed = {on(JobId(0), 0, 15)}, .unplaced = {JobId(1), JobId(2)}, .evicted = {JobId(1)}});
  EXPECT_DOUBLE_EQ(improve(s.shard), 4.0);
  EXPECT_FALSE(s.shard.is_waiting(JobId(1)));
  EXPECT_TRUE(s.shard.is_waiting(JobId(2)));
  EXPECT_DOUBLE_EQ(search(s.shard, std::vector<double>(s.pools.size(), 0.0), {}), 4.0);
  EXPECT_FALSE(s.shard.is_waiting(JobId(2)));
}

/// Ejection chains free GPUs, not the CPU that the gangs need beside them. Only the first gang is
/// worth its GPUs at the prices.
TEST(ShardPlanning, inserts_a_gang_where_jobs_without_gpus_hold_the_cpu) {
  auto plan = test::one_rack(8);  // 4 GPUs, 64 CPUs each
  const JobId profitable = plan.job({.tasks = 7, .gpus = 4, .cpu = 40'000});
  const JobId dear = plan.job({.tasks = 7, .gpus = 4, .cpu = 40'000, .weight = 0.625});
  ShardContent content{.placed = {}, .unplaced = {profitable, dear}};
  for (std::size_t m = 0; m < 8; ++m) {
    content.placed.push_back(on(plan.job({.gpus = 4, .weight = 0.5}), m, 15));
    content.placed.push_back(on(plan.job({.gpus = 0, .cpu = 40'000}), m, 0));
    plan.instance.workload.jobs.back().value = 0.125;
  }
  test::WholeShard s(plan);
  s.shard.restore(content);
  EXPECT_DOUBLE_EQ(search(s.shard, std::vector<double>(s.pools.size(), 0.75), {}),
                   28.0 - 7 * 2.125);
  EXPECT_FALSE(s.shard.is_waiting(profitable));
  EXPECT_TRUE(s.shard.is_waiting(dear));
}

/// Shares of 0.6 leave room that no other share fits: patterns put 0.6 beside 0.4.
TEST(ShardPlanning, repacks_shares_where_much_is_idle) {
  auto plan = test::one_rack(1);
  for (int j = 0; j < 4; ++j) plan.job({.gpus = 0, .milli = 600});
  for (int j = 0; j < 4; ++j) plan.job({.gpus = 0, .milli = 400});
  for (int j = 0; j < 2; ++j) plan.job({.gpus = 0, .milli = 600});
  test::WholeShard s(plan);
  model::Placement apart;
  for (int j = 0; j < 4; ++j) {
    apart.push_back(
        {.job = JobId(4 + j), .tasks = {{MachineId(0), 0, std::uint64_t{1} << j, 400}}});
  }
  s.shard.restore(
      {.placed = apart, .unplaced = {JobId(0), JobId(1), JobId(2), JobId(3), JobId(8), JobId(9)}});
  EXPECT_NEAR(repack(s.shard), 2.4, 1e-9);
  EXPECT_NEAR(s.shard.value(), 4.0, 1e-9);
}

}  // namespace
}  // namespace berth::solver
