// SPDX-License-Identifier: Apache-2.0
// A cluster at work: jobs that run, machines that go down, quotas and busy uplinks. The plan is
// proved, keeps what it may not touch, and is the same on any ranks.
#include "quick.hpp"
#include "with_petsc.hpp"

#include <string>

#include <gtest/gtest.h>

#include "berth/certify/check.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::pipeline {
namespace {

/// The sanitizers' build plans half as much.
constexpr int kGpus = test::kSanitized ? 512 : 1024;
constexpr int kJobs = kGpus * 900 / 1024;

model::Plan plan_on(const comm::Communicator& comm, const model::Instance& instance,
                    int rounds = 12, int regroups = 4) {
  PlanOptions options = test::quick_options();
  options.rounds.rounds = rounds;
  options.rounds.regroups = regroups;
  options.partition.shards = 4;
  options.bound_steps = 0;
  return test::plan_as_program(comm, instance, options);
}

std::string fault_of(const model::Instance& instance, const model::Plan& plan) {
  const auto checked =
      certify::check(instance, io::parse_plan(io::plan_text(instance, plan), "plan.json"));
  return checked.faults.empty() ? "" : checked.faults[0].text;
}

/// Three queues in one, the first of them soft; every second gang is a ring.
void add_limits(model::Instance& instance) {
  auto& queues = instance.cluster.queues;
  queues = {{.name = "org", .gpu_quota = kJobs},
            {.name = "a", .gpu_quota = kJobs / 3, .parent = QueueId(0), .over_quota_penalty = 2.0},
            {.name = "b", .gpu_quota = kJobs * 5 / 18, .parent = QueueId(0)}};
  for (auto& rack : instance.cluster.racks) rack.uplink_gbps = 100.0;
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    model::Job& job = instance.workload.jobs[j];
    if (j % 3 != 0) job.queue = QueueId(j % 3);
    if (j % 2 == 0 && instance.workload.tasks(job) > 1) {
      job.communication = {
          .pattern = model::CommunicationPattern::ring, .servers = 0, .mbps = 40000};
    }
  }
}

/// Three of four placed jobs run, each fourth of those is pinned; two machines are drained.
model::Instance at_work(const model::Instance& idle, const model::Placement& placement) {
  model::Instance busy = idle;
  model::Workload& workload = busy.workload;
  for (std::size_t i = 0; i < placement.size(); ++i) {
    if (i % 4 == 3) continue;
    const model::JobPlacement& p = placement[i];
    workload.jobs[p.job.index()].running = static_cast<std::int32_t>(workload.running.size());
    workload.running.push_back(
        {.job = p.job,
         .pinned = i % 4 == 2,
         .stop_cost = 0.5,
         .move_cost = 0.25,
         .first_task = static_cast<std::uint32_t>(workload.running_tasks.size()),
         .tasks = static_cast<std::uint32_t>(p.tasks.size())});
    workload.running_tasks.insert(workload.running_tasks.end(), p.tasks.begin(), p.tasks.end());
  }
  busy.cluster.machine_state.assign(busy.cluster.machines(), model::MachineState::up);
  for (const std::size_t m : {3U, 40U}) {
    busy.cluster.machine_state[m] = model::MachineState::drained;
  }
  // Through the files, whose readers decide which jobs are pinned and what is immovable.
  model::Instance read;
  read.cluster = io::parse_cluster(io::cluster_text(busy.cluster), "c.yaml");
  read.workload = io::parse_jobs(io::jobs_text(busy), "j.jsonl", read.cluster);
  return read;
}

class Replan : public berth::test::WithPetsc<> {};

TEST_F(Replan, keeps_what_may_not_be_touched_on_any_ranks) {
  const auto world = comm::Communicator::world();
  model::Instance idle = generate::generate_hetero({.gpus = kGpus, .jobs = kJobs, .seed = 11});
  add_limits(idle);
  const auto serial = comm::Communicator::serial();
  const model::Plan first = plan_on(serial, idle);
  EXPECT_EQ(fault_of(idle, first), "");
  const model::Instance busy = at_work(idle, first.placements);
  const model::Plan together = plan_on(world, busy);
  if (world.rank() != 0) return;
  const model::Plan alone = plan_on(serial, busy);
  EXPECT_EQ(together.plan_digest, alone.plan_digest);
  EXPECT_EQ(together.proof_digest, alone.proof_digest);
  EXPECT_EQ(fault_of(busy, alone), "");
  EXPECT_LT(alone.figures.gap, 0.06);

  std::int64_t stayed = 0, movable = 0;
  for (const model::JobPlacement& p : alone.placements) {
    const model::Running* running = busy.workload.running_of(busy.workload.job(p.job));
    if (running == nullptr) continue;
    EXPECT_FALSE(running->pinned);
    stayed += planner_model::stays(busy.workload, *running, p) ? 1 : 0;
  }
  for (const model::Running& r : busy.workload.running) movable += r.pinned ? 0 : 1;
  EXPECT_GT(stayed, movable * 3 / 4);  // a plan that was good stays
}

/// Shards choose the better of two starts; the rounds may gain more on the other one.
TEST_F(Replan, is_never_worse_than_from_running_jobs_in_their_places) {
  if (test::kSanitized) GTEST_SKIP() << "plans eight times";
  const auto world = comm::Communicator::world();
  for (const std::uint64_t seed : {12U, 13U}) {
    SCOPED_TRACE(seed);
    const auto idle =
        generate::generate_hetero({.gpus = 512, .jobs = 450, .seed = seed, .load = 1.2});
    const auto serial = comm::Communicator::serial();
    const model::Instance busy = at_work(idle, plan_on(serial, idle, 1, 0).placements);
    PlanOptions options = test::quick_options();
    options.partition.shards = 1;
    const model::Plan usual = test::plan_as_program(world, busy, options);
    if (world.rank() != 0) continue;
    EXPECT_EQ(usual.plan_digest, test::plan_as_program(serial, busy, options).plan_digest);
    options.shard.running = solver::RunningStart::keep;
    const model::Plan kept = test::plan_as_program(serial, busy, options);
    EXPECT_GE(usual.figures.objective, kept.figures.objective);
  }
}

/// The incumbent after any number of rounds is a plan: nothing is put right at the end, where
/// waiting jobs are only added to it.
TEST_F(Replan, quotas_and_uplinks_are_kept_after_every_round_on_any_ranks) {
  const auto world = comm::Communicator::world();
  model::Instance instance = generate::generate_hetero({.gpus = kGpus, .jobs = kJobs, .seed = 12});
  add_limits(instance);
  for (auto& rack : instance.cluster.racks) rack.uplink_gbps = 45.0;  // one ring each
  for (const auto& [rounds, regroups] : {std::pair{0, 0}, {1, 0}, {2, 0}, {2, 1}, {0, 2}}) {
    SCOPED_TRACE(testing::Message() << rounds << " rounds, " << regroups << " regroup rounds");
    const model::Plan together = plan_on(world, instance, rounds, regroups);
    if (world.rank() != 0) continue;
    EXPECT_EQ(fault_of(instance, together), "");
    EXPECT_EQ(static_cast<int>(together.rounds.size()), rounds + regroups);
    if (together.rounds.empty()) continue;
    EXPECT_GE(together.figures.objective, together.rounds.back().objective - 1e-6);
    EXPECT_EQ(together.plan_digest,
              plan_on(comm::Communicator::serial(), instance, rounds, regroups).plan_digest);
  }
}

}  // namespace
}  // namespace berth::pipeline
