// SPDX-License-Identifier: Apache-2.0
// What limits allow is asked of all ranks' placements together.
#include "berth/coordinator/limit_allocation.hpp"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

namespace berth::coordinator {
namespace {

/// One machine of 64 GPUs, one queue, jobs of one GPU each in it.
model::Instance instance_of(int jobs, std::int64_t quota) {
  model::Instance instance;
  model::Cluster& cluster = instance.cluster;
  cluster.gpu_types = {"A"};
  cluster.classes.push_back({"c", GpuTypeId(0), 64, model::machine_capacity({64000, 64000})});
  cluster.pods.emplace_back();
  cluster.racks.push_back({.name = "r", .pod = PodId(0)});
  cluster.machine_class = {ClassId(0)};
  cluster.machine_rack = {RackId(0)};
  cluster.queues.push_back({.name = "q", .gpu_quota = quota});
  model::Workload& workload = instance.workload;
  workload.shapes.push_back({.gpus = 1});
  for (int j = 0; j < jobs; ++j) {
    model::Job& job = workload.jobs.emplace_back();
    job.first_group = static_cast<std::uint32_t>(j);
    job.groups = 1;
    job.queue = QueueId(0);
    workload.groups.push_back({ShapeId(0), 1, 0});
  }
  return instance;
}

TEST(Uses, are_those_of_all_parts_and_keep_what_all_of_them_keep) {
  const auto world = comm::Communicator::world();
  const int jobs = 3 * world.size() + 1;
  model::Placement mine;  // three here, one more on the last rank
  for (int j = 0; j < jobs; ++j) {
    if (std::min(j / 3, world.size() - 1) != world.rank()) continue;
    mine.push_back({JobId(j), 0, {{MachineId(0), 0, std::uint64_t{1} << j, 1000}}});
  }
  for (const int quota : {jobs, jobs - 1}) {
    const auto instance = instance_of(jobs, quota);
    const planner_model::CouplingLimits limits(instance, model::Objective::value);
    const auto use = limit_use(world, instance, limits, mine);
    ASSERT_EQ(use.size(), 1u);
    EXPECT_EQ(use[0], 1000 * jobs);
    EXPECT_EQ(within_limits(limits, use), quota == jobs);
  }
}

}  // namespace
}  // namespace berth::coordinator
