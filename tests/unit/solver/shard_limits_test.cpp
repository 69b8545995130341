// SPDX-License-Identifier: Apache-2.0
// A shard under a quota of 4 GPUs.
#include "berth/solver/shard_limits.hpp"

#include "shard_builder.hpp"

#include <gtest/gtest.h>

#include "berth/solver/shard_bidding.hpp"
#include "berth/solver/shard_planning.hpp"

namespace berth::solver {
namespace {

using test::on;

/// Three jobs of 2 GPUs of the quota, worth 2, 4 and 6; the first two are placed.
struct Limited {
  test::InstanceBuilder plan = test::one_rack(2);
  test::WholeShard s;

  Limited() : s(with_jobs(plan), true) {
    s.shard.restore({.placed = {on(JobId(0), 0, 3), on(JobId(1), 1, 3)}, .unplaced = {JobId(2)}});
  }
  static test::InstanceBuilder& with_jobs(test::InstanceBuilder& plan) {
    plan.instance.cluster.queues = {{.name = "q", .gpu_quota = 4}};
    for (int j = 0; j < 3; ++j) plan.job({.gpus = 2, .weight = 1.0 + j});
    for (model::Job& job : plan.instance.workload.jobs) job.queue = QueueId(0);
    return plan;
  }
};

TEST(ShardLimits, counts_use_and_what_waits) {
  const Limited l;
  const std::vector<LimitUse> uses = limit_uses(l.s.shard);
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].use, 4000);
  EXPECT_EQ(uses[0].demand, 2000);
  EXPECT_TRUE(own_limits(l.s.shard).empty());
}

TEST(ShardLimits, names_the_jobs_to_evict_first) {
  Limited l;
  EXPECT_EQ(excess(l.s.shard, 0), 0);
  allow(l.s.shard, 0, 1000);
  EXPECT_EQ(excess(l.s.shard, 0), 3000);
  const auto one = eviction_candidates(l.s.shard, 0, 2000);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.front().precedence.job, JobId(0));
  EXPECT_EQ(eviction_candidates(l.s.shard, 0, 3000).size(), 2U);
}

TEST(ShardLimits, keep_planning_within_the_allowance) {
  Limited l;
  freeze_limits(l.s.shard);
  fill_idle_capacity(l.s.shard);
  EXPECT_TRUE(l.s.shard.is_waiting(JobId(2)));  // there is room, but the quota is used
  EXPECT_DOUBLE_EQ(bids(l.s.shard, std::vector{JobId(2)}).front().gain, 6.0 - 2.0);
  allow(l.s.shard, 0, 6000);
  fill_idle_capacity(l.s.shard);
  EXPECT_FALSE(l.s.shard.is_waiting(JobId(2)));
}

}  // namespace
}  // namespace berth::solver
