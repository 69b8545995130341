// SPDX-License-Identifier: Apache-2.0
// Under quotas and uplinks jobs trade places and groups are searched anew as without them, within
// what is left of the limits: a plan after every round, the same one on all ranks as on one.
#include "with_petsc.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "berth/certify/check.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {
namespace {

enum class Bound : std::uint8_t { quotas, uplinks, both };

/// Queues of which all but the last have fewer GPUs than their jobs ask for, one of them softly;
/// every other gang communicates over uplinks that carry two or three of them.
model::Instance limited(Bound bound) {
  auto instance = generate::generate_hetero({.gpus = 1024, .seed = 6});
  if (bound != Bound::uplinks) {
    instance.cluster.queues = {
        {.name = "org", .gpu_quota = 800},
        {.name = "a", .gpu_quota = 250, .parent = QueueId(0)},
        {.name = "b", .gpu_quota = 200, .parent = QueueId(0), .over_quota_penalty = 0.5},
        {.name = "rest"}};
  }
  if (bound != Bound::quotas) {
    for (auto& rack : instance.cluster.racks) rack.uplink_gbps = 50.0;
    for (auto& pod : instance.cluster.pods) pod.uplink_gbps = 60.0;
  }
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    model::Job& job = instance.workload.jobs[j];
    if (bound != Bound::uplinks) job.queue = QueueId(j % 4);
    if (bound != Bound::quotas && j % 3 != 0) {
      job.communication = {.pattern = model::CommunicationPattern::ring,
                           .mbps = j % 3 == 1 ? 20000 : 30000};
    }
  }
  return instance;
}

model::Plan plan_on(const comm::Communicator& comm, const model::Instance& instance) {
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  PlanOptions options;
  options.bound_steps = 0;  // the plan is what this is about
  options.tree_nodes = 0;
  options.partition.shards = 5;
  options.seed = 3;
  options.rounds = {.rounds = 1, .groups = {.gpus = 256}, .least_regroup_gain = -1.0};
  return plan_cluster(comm, instance, options, silent);
}

class Limited : public berth::test::WithPetsc<testing::TestWithParam<Bound>> {};

TEST_P(Limited, groups_gain_and_keep_the_limits_on_any_ranks) {
  const model::Instance instance = limited(GetParam());
  const auto world = comm::Communicator::world();
  const auto together = plan_on(world, instance);
  if (world.rank() != 0) return;
  const auto plan = plan_on(comm::Communicator::serial(), instance);
  EXPECT_EQ(together.plan_digest, plan.plan_digest);
  EXPECT_EQ(together.proof_digest, plan.proof_digest);
  const auto checked =
      certify::check(instance, io::parse_plan(io::plan_text(instance, plan), "plan.json"));
  EXPECT_TRUE(checked.valid()) << (checked.faults.empty() ? "" : checked.faults[0].text);
  double gain = 0.0, before = 0.0;
  int regroups = 0;
  for (const model::RoundRecord& r : plan.rounds) {
    const double last = std::exchange(before, r.objective);
    if (r.kind != model::RoundKind::regroup) continue;
    EXPECT_NEAR(r.objective, last + r.gain, 1e-9 * plan.figures.objective);
    EXPECT_EQ(r.blocks, 4);
    EXPECT_GE(r.gain, -1e-9 * plan.figures.objective);  // values are summed in another order
    gain += r.gain;
    ++regroups;
  }
  EXPECT_EQ(regroups, 4);
  EXPECT_GT(gain, 0.0);
  // The judge finds what rounds claim, and what the last fill and later searches add: with uplinks
  // 5.1 %, by a start in one shard.
  EXPECT_GE(plan.figures.objective, (1.0 - 1e-9) * plan.rounds.back().objective);
  EXPECT_LE(plan.figures.objective, 1.1 * plan.rounds.back().objective);
}

std::string name_of(const testing::TestParamInfo<Bound>& bound) {
  if (bound.param == Bound::both) return "both";
  return bound.param == Bound::quotas ? "quotas" : "uplinks";
}

INSTANTIATE_TEST_SUITE_P(Of, Limited, testing::Values(Bound::quotas, Bound::uplinks, Bound::both),
                         name_of);

}  // namespace
}  // namespace berth::pipeline
