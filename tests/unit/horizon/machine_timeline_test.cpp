// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/machine_timeline.hpp"

#include "random_horizon.hpp"

#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "berth/certify/horizon.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::horizon {
namespace {

/// Free GPUs of every machine, one entry a second; tries every start.
class SlowTimeline {
 public:
  explicit SlowTimeline(const Problem& problem) : problem_(problem) {
    for (const Machine& machine : problem.machines) free_.emplace_back(kSpan, machine.gpus);
    for (const Outage& outage : problem.outages) {
      take(outage.machine, outage.from, outage.to, free_[outage.machine.index()].front());
    }
  }
  void take(MachineId machine, Seconds from, Seconds to, Gpus gpus) {
    for (Seconds t = from; t < to; ++t) free_[machine.index()][static_cast<std::size_t>(t)] -= gpus;
  }
  [[nodiscard]] Seconds earliest_start(const Option& option, PoolId pool, Seconds from) const {
    while (!fits(option, pool, from)) {
      if (++from + option.duration >= kSpan) return kNever;
    }
    return from;
  }

 private:
  static constexpr Seconds kSpan = 400;
  [[nodiscard]] bool fits(const Option& option, PoolId pool, Seconds from) const {
    const TaskGroup& group = problem_.tasks_of(option).front();
    Gpus tasks = 0;
    for (std::size_t m = 0; m < problem_.machines.size(); ++m) {
      if (problem_.machines[m].pool != pool) continue;
      Gpus least = problem_.machines[m].gpus;
      for (Seconds t = from; t < from + option.duration; ++t) {
        least = std::min(least, free_[m][static_cast<std::size_t>(t)]);
      }
      tasks += std::max<Gpus>(0, least) / group.gpus;
    }
    return tasks >= group.tasks;
  }
  const Problem& problem_;
  std::vector<std::vector<Gpus>> free_;
};

TEST(MachineTimeline, starts_jobs_when_every_second_of_every_machine_allows_it) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Problem problem =
        test::random_horizon({.seed = seed, .jobs = 40, .longest = 9, .machines = 3, .gpus = 4},
                             test::HorizonCost::flow);
    MachineTimeline timeline(problem);
    SlowTimeline slow(problem);
    PlanBuilder built(problem, timeline);
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const auto option = problem.options_of(problem.jobs[j]).front();
      const PoolId pool = problem.pools_of(option).front();
      const Seconds release = problem.jobs[j].release;
      const Seconds start = timeline.earliest_start(option, pool, release);
      ASSERT_EQ(start, slow.earliest_start(option, pool, release)) << "job " << j;
      if (j % 5 == 4 && built.start_of(JobId(j - 1)).placed()) {  // earlier room must be seen again
        const Plan plan = built.plan();
        const JobStart& before = plan.starts[j - 1];
        for (const TaskShare& share : before.shares.of(plan.shares)) {
          const Gpus gpus =
              share.tasks *
              problem.tasks_of(problem.options_of(problem.jobs[j - 1]).front()).front().gpus;
          slow.take(share.machine, before.start, built.end_of(JobId(j - 1)), -gpus);
        }
        (void)built.remove(JobId(j - 1));
      }
      const Seconds again = timeline.earliest_start(option, pool, release);
      ASSERT_EQ(again, slow.earliest_start(option, pool, release)) << "job " << j;
      if (again + option.duration > problem.jobs[j].deadline) continue;
      built.place(JobId(j), {.option = 0, .pool = pool, .start = again, .shares = {}});
      const Plan plan = built.plan();
      for (const TaskShare& share : plan.starts[j].shares.of(plan.shares)) {
        slow.take(share.machine, again, again + option.duration,
                  share.tasks * problem.tasks_of(option).front().gpus);
      }
    }
    Plan plan = built.plan();
    assign_devices(problem, plan);
    EXPECT_TRUE(certify::check_on_machines(problem, plan).empty());
  }
}

TEST(MachineTimeline, places_workers_beside_a_smaller_task) {
  ProblemBuilder builder;
  const auto pools = builder.add_pool_set(std::array{builder.add_pool(CurveId(0), 3, 8)});
  (void)builder.add_job(0);
  const auto cost = builder.add_cost(std::array{flow_cost(0, 1.0)});
  builder.add_option(pools, 10, std::array{TaskGroup{2, 8}, TaskGroup{1, 4}}, cost);
  const Problem problem = builder.build();
  MachineTimeline timeline(problem);
  std::vector<TaskShare> shares;
  EXPECT_EQ(timeline.earliest_start(problem.options.front(), PoolId(0), 0), 0);
  timeline.reserve(problem.options.front(), PoolId(0), 0, shares);
  EXPECT_EQ(shares.size(), 3U);
  EXPECT_EQ(timeline.free_at(PoolId(0), 9), 4);
  EXPECT_EQ(timeline.earliest_start(problem.options.front(), PoolId(0), 0), 10);
}

TEST(MachineTimeline, sees_room_that_came_back) {
  ProblemBuilder builder;
  const auto pools = builder.add_pool_set(std::array{builder.add_pool(CurveId(0), 1, 4)});
  (void)builder.add_job(0);
  const auto cost = builder.add_cost(std::array{flow_cost(0, 1.0)});
  builder.add_option(pools, 10, std::array{TaskGroup{1, 4}}, cost);
  const Problem problem = builder.build();
  MachineTimeline timeline(problem);
  const Option& option = problem.options.front();
  std::vector<TaskShare> shares;
  timeline.reserve(option, PoolId(0), 0, shares);
  EXPECT_EQ(timeline.earliest_start(option, PoolId(0), 0), 10);
  timeline.release(option, PoolId(0), 0, shares);
  EXPECT_EQ(timeline.earliest_start(option, PoolId(0), 0), 0);
}

/// One pool, and one job with tasks of 10 seconds.
class OneJob {
 public:
  OneJob(std::int32_t machines, std::int32_t gpus, std::vector<TaskGroup> tasks) {
    ProblemBuilder builder;
    const auto pools =
        builder.add_pool_set(std::array{builder.add_pool(CurveId(0), machines, gpus)});
    (void)builder.add_job(0);
    builder.add_option(pools, 10, tasks, builder.add_cost(std::array{flow_cost(0, 1.0)}));
    problem = builder.build();
  }
  Option& option() { return problem.options.front(); }
  /// Starts of `jobs` such jobs, one after the other.
  std::vector<Seconds> starts(int jobs) {
    MachineTimeline timeline(problem);
    std::vector<Seconds> found;
    for (int j = 0; j < jobs; ++j) {
      std::vector<TaskShare> shares;
      found.push_back(timeline.earliest_start(option(), PoolId(0), 0));
      if (found.back() < kNever) timeline.reserve(option(), PoolId(0), found.back(), shares);
    }
    return found;
  }

  Problem problem;
};

/// Jobs of one GPU on two machines of two GPUs, by duration.
class Neighbours {
 public:
  explicit Neighbours(std::vector<Seconds> durations) {
    ProblemBuilder builder;
    const auto pools = builder.add_pool_set(std::array{builder.add_pool(CurveId(0), 2, 2)});
    const auto cost = builder.add_cost(std::array{flow_cost(0, 1.0)});
    for (const Seconds duration : durations) {
      (void)builder.add_job(0);
      builder.add_option(pools, duration, std::array{TaskGroup{1, 1}}, cost);
    }
    problem = builder.build();
    timeline = std::make_unique<MachineTimeline>(problem);
  }
  /// Reserves the job from `start` on, and returns its machine.
  std::size_t reserve(std::size_t job, Seconds start) {
    std::vector<TaskShare> shares;
    timeline->reserve(problem.options[job], PoolId(0), start, shares);
    return shares.front().machine.index();
  }

  Problem problem;
  std::unique_ptr<MachineTimeline> timeline;
};

TEST(MachineTimeline, puts_jobs_together_that_end_together) {
  Neighbours jobs({100, 20, 90, 22});
  EXPECT_EQ(jobs.reserve(0, 0), 0U);
  EXPECT_EQ(jobs.reserve(1, 0), 1U);  // an empty machine rather than 80 seconds apart
  EXPECT_EQ(jobs.reserve(3, 0), 1U);
  EXPECT_EQ(jobs.reserve(2, 0), 0U);
}

TEST(MachineTimeline, starts_a_little_later_beside_jobs_that_end_at_the_same_time) {
  Neighbours jobs({1000, 2, 102, 100});
  EXPECT_EQ(jobs.reserve(0, 0), 0U);
  EXPECT_EQ(jobs.reserve(2, 0), 1U);
  EXPECT_EQ(jobs.reserve(1, 0), 1U);
  const Option& job = jobs.problem.options[3];
  EXPECT_EQ(jobs.timeline->earliest_start(job, PoolId(0), 0), 0);  // beside the longest job
  const auto start = [&](Seconds latest, double delay_weight) {
    return jobs.timeline->suited_start(job, PoolId(0), 0, latest, delay_weight);
  };
  EXPECT_EQ(start(3, 4.0), 2);
  EXPECT_EQ(start(1, 4.0), 0);
  EXPECT_EQ(start(3, 1000.0), 0);
  EXPECT_EQ(jobs.reserve(3, 2), 1U);
}

using Starts = std::vector<Seconds>;

TEST(MachineTimeline, waits_for_the_cpu_of_a_machine_with_free_gpus) {
  OneJob job(2, 8, {{.tasks = 1, .gpus = 1, .needs = {6}}});
  for (Machine& machine : job.problem.machines) machine.capacity = {10, 0};
  EXPECT_EQ(job.starts(3), (Starts{0, 0, 10}));
  job.problem.task_groups.front().needs = {5};
  EXPECT_EQ(job.starts(5), (Starts{0, 0, 0, 0, 10}));
}

TEST(MachineTimeline, counts_the_memory_of_gangs_and_of_tasks_without_gpus) {
  OneJob gang(2, 8, {{.tasks = 3, .gpus = 2, .needs = {0, 4}}});
  for (Machine& machine : gang.problem.machines) machine.capacity = {8, 10};
  EXPECT_EQ(gang.starts(2), (Starts{0, 10}));  // two tasks a machine, 3 + 3 do not fit
  OneJob cpu(1, 0, {{.tasks = 1, .gpus = 0, .needs = {3}}});
  cpu.problem.machines.front().capacity = {8, 0};
  EXPECT_EQ(cpu.starts(3), (Starts{0, 0, 10}));
}

TEST(MachineTimeline, leaves_out_what_contents_take_until_they_end) {
  OneJob job(1, 8, {{.tasks = 1, .gpus = 1, .needs = {6}}});
  job.problem.machines.front().capacity = {10, 0};
  job.problem.outages.push_back({.machine = MachineId(0), .from = 0, .to = 25, .taken = {5}});
  EXPECT_EQ(job.starts(2), (Starts{25, 35}));
}

TEST(MachineTimeline, keeps_gangs_within_their_domain) {
  OneJob job(4, 8, {{.tasks = 2, .gpus = 8}});
  for (std::size_t m = 0; m < 4; ++m) job.problem.machines[m].rack = RackId(m / 2);
  EXPECT_EQ(job.starts(3), (Starts{0, 0, 10}));
  job.problem.outages.push_back({.machine = MachineId(0), .from = 0, .to = 20, .devices = 0xff});
  job.problem.outages.push_back({.machine = MachineId(2), .from = 0, .to = 30, .devices = 0xff});
  job.problem.pools.front().capacity = {{0, 16}, {20, 24}, {30, 32}};
  EXPECT_EQ(job.starts(1), (Starts{0}));
  job.option().domain = model::Level::rack;
  EXPECT_EQ(job.starts(2), (Starts{20, 30}));
  job.option().domain = model::Level::machine;
  EXPECT_EQ(job.starts(1), (Starts{kNever}));
}

TEST(MachineTimeline, keeps_quotas_at_every_moment) {
  OneJob job(2, 8, {{.tasks = 1, .gpus = 4}});
  job.problem.quotas = {{{0, 4}, {25, 12}}};
  job.problem.option_quotas = {0};
  job.option().quotas = {0, 1};
  EXPECT_EQ(job.starts(5), (Starts{0, 10, 20, 25, 25}));
}

TEST(ProblemBuilder, counts_overlapping_outages_once) {
  ProblemBuilder builder;
  const PoolId pool = builder.add_pool(CurveId(0), 2, 8);
  builder.add_outage(MachineId(0), 10, 30);
  builder.add_outage(MachineId(0), 20, 40);
  builder.add_outage(MachineId(1), 0, 20, 0b11);
  const Problem problem = builder.build();
  const std::vector<std::array<Seconds, 2>> expected{{0, 14}, {10, 6}, {20, 8}, {40, 16}};
  std::vector<std::array<Seconds, 2>> found;
  for (const auto& step : problem.pools[pool.index()].capacity) {
    found.push_back({step.from, step.gpus});
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace berth::horizon
