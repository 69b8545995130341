// SPDX-License-Identifier: Apache-2.0
// Shares of GPUs beside whole ones: every GPU is counted second by second.
#include "berth/horizon/device_shares.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/horizon/machine_timeline.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::horizon {
namespace {

constexpr std::int32_t kGpus = 3;
constexpr std::int32_t kMachines = 2;

std::int64_t drawn(std::uint64_t seed, std::uint64_t job, std::uint64_t purpose,
                   std::uint64_t bound) {
  return static_cast<std::int64_t>(random_below(bound, {seed, job, purpose}));
}

/// Jobs with shares and whole GPUs on two machines; a share runs on one, the other closes once.
Problem drawn_problem(std::uint64_t seed, std::uint64_t jobs) {
  ProblemBuilder builder;
  const PoolId pool = builder.add_pool(CurveId(0), kMachines, kGpus);
  const auto pools = builder.add_pool_set(std::array{pool});
  builder.add_outage({.machine = MachineId(0),
                      .from = 0,
                      .to = 1 + drawn(seed, 0, 0, 12),
                      .devices = 0b010,
                      .milli = 400});
  builder.add_outage(MachineId(1), 10, 14);
  constexpr std::array<std::int32_t, 5> kShares{200, 300, 500, 600, 900};
  for (std::uint64_t j = 1; j <= jobs; ++j) {
    (void)builder.add_job(drawn(seed, j, 1, 8));
    TaskGroup group{.tasks = static_cast<std::int32_t>(1 + drawn(seed, j, 2, 3)), .gpus = 1};
    if (drawn(seed, j, 3, 3) > 0) {
      group.gpus = 0;
      group.milli = kShares[static_cast<std::size_t>(drawn(seed, j, 4, kShares.size()))];
    }
    builder.add_option(pools, 1 + drawn(seed, j, 5, 9), std::array{group},
                       builder.add_cost(std::array{flow_cost(0, 1.0)}));
  }
  return builder.build();
}

/// Most thousandths on any GPU at any second.
Gpus fullest(const Problem& problem, const Plan& plan) {
  std::map<std::array<std::int64_t, 3>, Gpus> taken;  // by machine, GPU and second
  const auto add = [&](MachineId machine, std::uint64_t devices, Seconds from, Seconds to,
                       Gpus milli) {
    for (std::int64_t gpu = 0; gpu < kGpus; ++gpu) {
      if (((devices >> gpu) & 1) == 0) continue;
      for (Seconds t = from; t < to; ++t) taken[{machine.value(), gpu, t}] += milli;
    }
  };
  for (const Outage& o : problem.outages) add(o.machine, o.devices, o.from, o.to, o.milli);
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    if (!plan.starts[j].placed()) continue;
    const Option& option = problem.options_of(problem.jobs[j]).front();
    const TaskGroup& group = problem.tasks_of(option).front();
    const Seconds start = plan.starts[j].start;
    Gpus tasks = 0;
    for (const TaskShare& share : plan.starts[j].shares.of(plan.shares)) {
      tasks += share.tasks;
      EXPECT_EQ(std::popcount(share.devices), group.milli > 0 ? 1 : share.tasks);
      add(share.machine, share.devices, start, start + option.duration,
          group.milli > 0 ? group.milli * share.tasks : 1000);
    }
    EXPECT_EQ(tasks, group.tasks);
  }
  Gpus most = 0;
  for (const auto& [where, milli] : taken) most = std::max(most, milli);
  return most;
}

TEST(DeviceShares, never_fill_a_gpu_with_more_than_it_has) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Problem problem = drawn_problem(seed, 30);
    MachineTimeline timeline(problem);
    PlanBuilder built(problem, timeline);
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const Option& option = problem.options_of(problem.jobs[j]).front();
      const Seconds start = timeline.earliest_start(option, PoolId(0), problem.jobs[j].release);
      ASSERT_LT(start, kNever);
      // no second before fits, and the limit of a search only cuts it
      for (Seconds t = problem.jobs[j].release; t < start; ++t) {
        ASSERT_EQ(timeline.earliest_until(option, PoolId(0), t, start - 1), kNever);
      }
      ASSERT_EQ(timeline.earliest_until(option, PoolId(0), problem.jobs[j].release, start), start);
      built.place(JobId(j), {.option = 0, .pool = PoolId(0), .start = start, .shares = {}});
      if (j % 3 == 2) built.restore(built.remove(JobId(j / 2)));
    }
    Plan plan = built.plan();
    assign_devices(problem, plan);
    EXPECT_LE(fullest(problem, plan), 1000);
  }
}

TEST(DeviceShares, join_a_running_share_and_give_its_gpu_back) {
  ProblemBuilder builder;
  const PoolId pool = builder.add_pool(CurveId(0), 1, 1);
  const auto pools = builder.add_pool_set(std::array{pool});
  builder.add_outage({.machine = MachineId(0), .from = 0, .to = 10, .devices = 0b1, .milli = 600});
  const auto cost = builder.add_cost(std::array{flow_cost(0, 1.0)});
  for (const TaskGroup group :
       {TaskGroup{.tasks = 1, .gpus = 0, .milli = 400},
        TaskGroup{.tasks = 1, .gpus = 0, .milli = 500}, TaskGroup{.tasks = 1, .gpus = 1}}) {
    (void)builder.add_job(0);
    builder.add_option(pools, 15, std::array{group}, cost);
  }
  const Problem problem = builder.build();
  MachineTimeline timeline(problem);
  PlanBuilder built(problem, timeline);
  const auto start_of = [&](std::size_t option) {
    return timeline.earliest_start(problem.options[option], pool, 0);
  };
  EXPECT_EQ(start_of(0), 0);
  EXPECT_EQ(start_of(1), 10);
  EXPECT_EQ(start_of(2), 10);
  built.place(JobId(0), {.option = 0, .pool = pool, .start = 0, .shares = {}});
  EXPECT_EQ(start_of(1), 10);  // 400 + 500
  EXPECT_EQ(start_of(2), 15);
  const RemovedJob removed = built.remove(JobId(0));
  EXPECT_EQ(start_of(2), 10);
}

}  // namespace
}  // namespace berth::horizon
