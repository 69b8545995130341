// SPDX-License-Identifier: Apache-2.0
// More effort starts with the passes of less: plan and bound are never worse, and do not depend on
// ranks.
#include "planned.hpp"
#include "with_petsc.hpp"

#include <gtest/gtest.h>

#include "berth/generate/generate.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;

constexpr int kGpus = test::kSanitized ? 128 : 256;  // the sanitizers' build plans half as much

class Effort : public berth::test::WithPetsc<> {
 protected:
  static model::Plan plan(const Communicator& comm, const model::Instance& instance, int effort) {
    PlanOptions options = test::quick_options();
    options.gap = 0.0;
    options.effort = effort;
    options.bound_steps = 20;
    options.partition.shards = 2;
    return test::plan_as_program(comm, instance, options);
  }

  /// Plans with effort 1, 2, 3, 5 on all ranks; the last one also on rank 0 alone.
  static void expect_better_with_effort(const model::Instance& instance) {
    const auto world = Communicator::world();
    double objective = 0.0, bound = 1e300;
    for (const int effort : {1, 2, 3, 5}) {
      if (test::kSanitized && effort == 2) continue;
      const model::Plan together = plan(world, instance, effort);
      if (world.rank() != 0) continue;
      SCOPED_TRACE(effort);
      EXPECT_TRUE(together.reproducible);
      EXPECT_GE(together.figures.objective, objective);
      EXPECT_LE(together.figures.upper_bound, bound);
      objective = together.figures.objective;
      bound = together.figures.upper_bound;
      if (effort < 5) continue;
      test::expect_same(together, plan(Communicator::serial(), instance, effort));
    }
  }
};

TEST_F(Effort, is_never_worse_with_gangs_and_homes) {
  expect_better_with_effort(
      generate::generate(generate::Preset::philly_like, {.gpus = kGpus, .seed = 5, .load = 1.3}));
}

/// Shares have no prices of their own, and most racks none either: every pass that tightens the
/// bound asks all ranks for a choice of whole jobs, among the jobs at home there.
TEST_F(Effort, is_never_worse_where_shares_want_one_rack) {
  auto instance =
      generate::generate(generate::Preset::philly_like, {.gpus = kGpus, .seed = 5, .load = 1.3});
  for (model::Shape& shape : instance.workload.shapes) {
    shape.gpu_milli = shape.gpus > 1 ? 700 : 400;
    shape.gpus = 0;
  }
  for (model::TaskGroup& group : instance.workload.groups) group.count = 1;
  for (model::Job& job : instance.workload.jobs) job.home_rack = RackId(0);
  expect_better_with_effort(instance);
}

TEST_F(Effort, is_never_worse_within_quotas) {
  auto instance =
      generate::generate(generate::Preset::hetero, {.gpus = kGpus, .seed = 2, .load = 1.3});
  const std::int64_t gpus = instance.cluster.gpus();
  instance.cluster.queues = {
      {.name = "a", .gpu_quota = gpus / 3},
      {.name = "b", .gpu_quota = gpus / 2, .parent = {}, .over_quota_penalty = 0.3}};
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    instance.workload.jobs[j].queue = QueueId(j % 2);
  }
  expect_better_with_effort(instance);
}

}  // namespace
}  // namespace berth::pipeline
