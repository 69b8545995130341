// SPDX-License-Identifier: Apache-2.0
// Where a gang is sent by the prices.
#include "berth/coordinator/assign.hpp"

#include "instance_builder.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace berth::coordinator {
namespace {

/// Type A has racks of one machine, B racks of two. The gang is faster on A, but there it must lie
/// over two racks, for half of its value.
TEST(Assign, values_a_gang_as_wide_as_it_must_lie) {
  for (const double spread : {0.5, 1.0}) {
    test::InstanceBuilder plan({"A", "B"});
    const PodId pod_a = plan.pod(), pod_b = plan.pod();
    for (int r = 0; r < 4; ++r) plan.rack(pod_a), plan.add_machines(1, 0, 8);
    for (int r = 0; r < 2; ++r) plan.rack(pod_b), plan.add_machines(2, 1, 8);
    const JobId gang = plan.job(
        {.tasks = 2, .gpus = 8, .speed = {1.5, 1.0}, .spread = {1.0, 1.0, spread, spread}});
    const auto comm = comm::Communicator::serial();
    const auto value = plan.value();
    const auto pools = plan.pools();
    const auto shards = partition::split(plan.instance.cluster, {.shards = 2});
    ASSERT_NE(shards.of_machine[0], shards.of_machine[7]);
    const std::vector<double> prices(pools.size(), 0.1);
    const auto owners = partition::own(plan.instance.cluster, shards, 1);
    auto records = JobRecords::of_replicated(comm, plan.instance.workload);
    const Assignment jobs = assign(comm, {value, shards, owners, pools, prices}, records);
    EXPECT_EQ(jobs.shard_of[gang.index()], shards.of_machine[spread < 1.0 ? 7 : 0]);
  }
}

/// Four machines in two shards: a gang of 32 GPUs spans both, a single task is in one.
TEST(Assign, serves_equal_jobs_by_priority) {
  for (const int tasks : {4, 1}) {
    for (const auto& [high, low] : {std::pair{0, 1}, std::pair{1, 0}}) {
      test::InstanceBuilder plan({"A"});
      for (int p = 0; p < 2; ++p) plan.rack(plan.pod()), plan.add_machines(2, 0, 8);
      plan.job({.tasks = tasks, .gpus = 8});
      plan.instance.workload.jobs.push_back(plan.instance.workload.jobs.front());
      plan.instance.workload.jobs[static_cast<std::size_t>(high)].priority = 1;
      const auto value = plan.value();
      const auto pools = plan.pools();
      const auto shards = partition::split(plan.instance.cluster, {.shards = 2});
      const std::vector<double> prices(pools.size(), 0.1);
      const auto comm = comm::Communicator::serial();
      const auto owners = partition::own(plan.instance.cluster, shards, 1);
      auto records = JobRecords::of_replicated(comm, plan.instance.workload);
      const Assignment jobs = assign(comm, {value, shards, owners, pools, prices}, records);
      if (tasks == 4) {
        ASSERT_EQ(jobs.spanning.size(), 1U);
        EXPECT_EQ(jobs.spanning.front().job, JobId(high));
      } else {  // one after the other takes the shard that is claimed least
        EXPECT_EQ(jobs.shard_of[static_cast<std::size_t>(high)], ShardId(0));
        EXPECT_EQ(jobs.shard_of[static_cast<std::size_t>(low)], ShardId(1));
      }
    }
  }
}

}  // namespace
}  // namespace berth::coordinator
