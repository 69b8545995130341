// SPDX-License-Identifier: Apache-2.0
// Where a gang is sent by the prices.
#include "berth/coordinator/assign.hpp"

#include "instance_builder.hpp"

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
    const Assignment jobs = assign(comm, value, pools, shards, prices,
                                   JobRecords::of_replicated(comm, plan.instance.workload));
    EXPECT_EQ(jobs.shard_of[gang.index()], shards.of_machine[spread < 1.0 ? 7 : 0]);
  }
}

}  // namespace
}  // namespace berth::coordinator
