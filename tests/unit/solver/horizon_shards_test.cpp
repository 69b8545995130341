// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/horizon_shards.hpp"

#include "horizon/divided_limits.hpp"
#include "horizon/machine_shards.hpp"
#include "random_horizon.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/certify/horizon.hpp"
#include "berth/horizon/problem_builder.hpp"
#include "berth/solver/horizon_bound.hpp"

namespace berth::solver {
namespace {

using horizon::CurveId;
using horizon::Plan;
using horizon::Problem;
using horizon::ProblemBuilder;
using horizon::TaskGroup;
using testing::ElementsAre;

/// One machine of 8 GPUs for each (pod, rack).
Problem machines_in(std::initializer_list<std::pair<int, int>> places) {
  ProblemBuilder builder;
  (void)builder.add_pool(CurveId(0), 0, 8);
  for (const auto& [pod, rack] : places) {
    (void)builder.add_machine({.pool = {}, .gpus = 8, .rack = RackId(rack), .pod = PodId(pod)});
  }
  return builder.build();
}

std::vector<int> numbers(const Problem& problem, std::size_t shards) {
  std::vector<int> result;
  for (const ShardId shard : horizon_plan::shards_of_machines(problem, shards)) {
    result.push_back(shard.value());
  }
  return result;
}

TEST(MachineShards, are_whole_pods_and_cut_only_pods_that_are_too_large) {
  EXPECT_THAT(numbers(machines_in({{0, 0}, {0, 0}, {1, 1}, {1, 1}}), 2), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(numbers(machines_in({{0, 0}, {1, 1}, {2, 2}, {3, 3}}), 2), ElementsAre(0, 0, 1, 1));
  // a pod of more than two parts is cut into racks, a rack of more than two into machines
  EXPECT_THAT(numbers(machines_in({{0, 0}, {0, 0}, {0, 1}, {0, 1}, {0, 2}, {0, 2}}), 3),
              ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(numbers(machines_in({{0, 0}, {0, 0}, {0, 0}, {0, 0}}), 4), ElementsAre(0, 1, 2, 3));
  // two pods are two shards, whatever is asked for, when their limits are shared
  Problem limited = machines_in({{0, 0}, {0, 1}, {0, 2}, {1, 3}, {1, 4}, {1, 5}});
  for (auto& machine : limited.machines) machine.limits.pod_power = machine.pod.value();
  EXPECT_THAT(numbers(limited, 6), ElementsAre(0, 0, 0, 1, 1, 1));
  // a pool of a problem without pods is one
  ProblemBuilder pools;
  for (std::size_t p = 0; p < 2; ++p) (void)pools.add_pool(CurveId(0), 2, 8);
  EXPECT_THAT(numbers(pools.build(), 2), ElementsAre(1, 1, 0, 0));
}

TEST(MachineShards, are_one_for_small_problems_and_for_jobs_that_depend_on_each_other) {
  const auto built = [](int machines, int jobs, bool chain) {
    ProblemBuilder builder;
    const auto pool = builder.add_pool_set(std::array{builder.add_pool(CurveId(0), machines, 8)});
    for (int j = 0; j < jobs; ++j) {
      (void)builder.add_job(0);
      builder.add_option(pool, 10, std::array{TaskGroup{1, 8}},
                         builder.add_cost(std::array{horizon::flow_cost(0, 1.0)}));
      if (chain && j > 0) builder.add_dependency(JobId(j), JobId(j - 1));
    }
    return builder.build();
  };
  EXPECT_EQ(shards_in_time(built(2000, 200'000, false)), 1);
  EXPECT_EQ(shards_in_time(built(4096, 10'000, false)), 1);
  EXPECT_EQ(shards_in_time(built(4096, 50'000, false)), 4);
  EXPECT_EQ(shards_in_time(built(4096, 50'000, true)), 1);
}

/// A quota of 10 GPUs until 50, then of 4; 6 licenses; 100 GPU-seconds. Two shards with jobs of 2
/// GPUs for 10 s: three in the first, one in the second.
class DividedLimits : public testing::Test {
 protected:
  DividedLimits() {
    for (std::size_t s = 0; s < 2; ++s) {
      HorizonShardTask task;
      task.shard = ShardId(s);
      task.jobs.problem = part(s == 0 ? 3 : 1);
      task.planned = true;
      task.plan.starts.resize(task.jobs.problem.jobs.size());
      tasks_.push_back(std::move(task));
    }
    nothing_.starts.resize(4);
  }

  static Problem part(int jobs) {
    ProblemBuilder builder;
    const auto pool = builder.add_pool_set(std::array{builder.add_pool(CurveId(0), 4, 8)});
    const std::int32_t quota = builder.add_quota({{0, 10'000}, {50, 4'000}});
    const std::int32_t license = builder.add_license({{0, 6}});
    const std::int32_t budget = builder.add_budget(100, 1'000);
    for (int j = 0; j < jobs; ++j) {
      (void)builder.add_job(0);
      builder.add_option(pool, 10, std::array{TaskGroup{1, 2}},
                         builder.add_cost(std::array{horizon::flow_cost(0, 1.0)}));
      builder.restrict_option(model::Level::cluster, std::array{quota});
      builder.license_option(std::array{horizon::LicenseUse{license, 1}});
      builder.charge_option(std::array{budget});
    }
    return builder.build();
  }

  [[nodiscard]] std::int64_t quota_at(std::size_t shard, horizon::Seconds time) const {
    std::int64_t milli = 0;
    for (const auto& step : tasks_[shard].jobs.problem.quotas_milli[0]) {
      if (step.from <= time) milli = step.gpus;
    }
    return milli;
  }

  Problem whole_ = part(4);
  Plan nothing_;
  std::vector<HorizonShardTask> tasks_;
};

TEST_F(DividedLimits, are_in_proportion_to_the_work_of_the_jobs) {
  horizon_plan::divide_limits(whole_, nothing_, tasks_);
  EXPECT_EQ(quota_at(0, 0), 7'000);  // of 7.5
  EXPECT_EQ(quota_at(1, 0), 2'000);
  EXPECT_EQ(quota_at(0, 60), 3'000);
  EXPECT_EQ(quota_at(1, 60), 1'000);
  EXPECT_EQ(tasks_[0].jobs.problem.quotas[0].front().gpus, 7);
  EXPECT_EQ(tasks_[0].jobs.problem.licenses[0].front().gpus, 4);
  EXPECT_EQ(tasks_[1].jobs.problem.licenses[0].front().gpus, 1);
  EXPECT_EQ(tasks_[0].jobs.problem.budgets[0], 75);
  EXPECT_EQ(tasks_[1].jobs.problem.budgets[0], 25);
}

TEST_F(DividedLimits, leave_each_shard_what_its_plan_uses) {
  // the second shard uses 2 GPUs in 45 .. 55, a job over all 2 more in 48 .. 58
  tasks_[1].plan.starts[0] = {.option = 0, .pool = PoolId(0), .start = 45, .shares = {}};
  nothing_.starts[3] = {.option = 0, .pool = PoolId(0), .start = 48, .shares = {}};
  horizon_plan::divide_limits(whole_, nothing_, tasks_);
  for (horizon::Seconds t = 0; t < 80; ++t) {
    const std::int64_t used = 48 <= t && t < 58 ? 2'000 : 0;
    EXPECT_LE(quota_at(0, t) + quota_at(1, t) + used, t < 50 ? 10'000 : 4'000) << t;
    if (45 <= t && t < 55) {
      EXPECT_GE(quota_at(1, t), 2'000) << t;
    }
  }
  EXPECT_EQ(quota_at(0, 50), 0);
  EXPECT_EQ(tasks_[0].jobs.problem.budgets[0] + tasks_[1].jobs.problem.budgets[0], 80);
  EXPECT_GE(tasks_[1].jobs.problem.budgets[0], 20);
}

}  // namespace
}  // namespace berth::solver
