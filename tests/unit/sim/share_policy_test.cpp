// SPDX-License-Identifier: Apache-2.0
// Shares of time in rounds, on cases solved by hand.
#include "berth/sim/share_policy.hpp"

#include "one_pool.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/base/random.hpp"
#include "berth/sim/outages.hpp"

namespace berth::test {
namespace {

constexpr sim::Micros s = sim::kSecond;

sim::Run share(const model::Cluster& cluster, const sim::Trace& trace, const std::string& policy,
               const sim::World& world = {}) {
  const auto made = sim::make_share_policy(sim::share_policy_options(policy).value());
  return sim::simulate(cluster, trace, *made, {}, world);
}

/// Machines of one GPU each, of types 0, 1, ...
model::Cluster machines_of_types(const std::vector<int>& counts) {
  Tiny tiny;
  std::vector<ClassId> classes;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    const std::string name = "T" + std::to_string(t);
    classes.push_back(tiny.machine_class(name, tiny.type(name), 1, 0, 0));
  }
  tiny.pod();
  tiny.rack();
  for (std::size_t t = 0; t < counts.size(); ++t) {
    for (int m = 0; m < counts[t]; ++m) tiny.machine(classes[t]);
  }
  return tiny.instance.cluster;
}

/// Gives each job a demand of its own with these speeds by GPU type, fastest first.
void set_speeds(sim::Trace& trace, const std::vector<std::vector<double>>& speeds) {
  std::vector<policy::Demand> demands;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    policy::Demand demand = trace.demands[trace.jobs[j].demand];
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t t = 0; t < speeds[j].size(); ++t) order.emplace_back(-speeds[j][t], t);
    std::ranges::sort(order);
    demand.types.clear();
    demand.speeds.clear();
    for (const auto& [speed, type] : order) {
      demand.types.emplace_back(type);
      demand.speeds.push_back(-speed);
    }
    trace.jobs[j].demand = static_cast<std::uint32_t>(demands.size());
    demands.push_back(demand);
  }
  trace.demands = demands;
}

/// Microseconds that the job had GPUs before `end`.
sim::Micros held(const model::JobRecord& record, sim::Micros end) {
  sim::Micros sum = 0;
  for (const auto& run : record.runs)
    sum += std::max<sim::Micros>(0, std::min(run.end, end) - run.start);
  return sum;
}

TEST(Shares, two_equal_jobs_take_turns) {
  const auto run = share(one_pool(1, 1), trace_of({{0, 1, 720 * s}, {0, 1, 720 * s}}), "max-min");
  ASSERT_EQ(run.records[0].runs.size(), 2U);
  EXPECT_EQ(run.records[0].runs[0].end, 360 * s);
  EXPECT_EQ(run.records[0].runs[1].start, 720 * s);
  EXPECT_EQ(run.records[1].runs[0].start, 360 * s);
  EXPECT_EQ(run.records[1].end(), 1440 * s);
}

TEST(Shares, three_jobs_on_two_gpus_have_two_thirds_each) {
  const std::vector<TraceRow> rows(3, {0, 1, 100'000 * s});
  const auto run = share(one_pool(1, 2), trace_of(rows), "max-min");
  for (const auto& record : run.records) {
    EXPECT_NEAR(static_cast<double>(held(record, 90'000 * s)), 60'000.0 * s, 400.0 * s);
  }
}

TEST(Shares, max_min_counts_gpus_and_weights) {
  // Gavel's normalisation: progress x GPUs / weight is equal. A job of 2 GPUs and two of 1 GPU on 2
  // GPUs: 2 x = y and 2 x + 2 y = 2, so that x = 1/3; with weight 2 of the first x = y = 1/2.
  const std::vector<TraceRow> rows{{0, 2, 100'000 * s}, {0, 1, 100'000 * s}, {0, 1, 100'000 * s}};
  sim::Trace trace = trace_of(rows);
  auto run = share(one_pool(1, 2), trace, "max-min");
  EXPECT_NEAR(static_cast<double>(held(run.records[0], 90'000 * s)), 30'000.0 * s, 800.0 * s);
  trace.jobs[0].weight = 2.0;
  run = share(one_pool(1, 2), trace, "max-min");
  EXPECT_NEAR(static_cast<double>(held(run.records[0], 90'000 * s)), 45'000.0 * s, 800.0 * s);
}

TEST(Shares, max_sum_gives_a_type_to_the_job_that_gains_most) {
  // Part of the fastest speed: job 0 has 1 on type 0 and 1/4 on type 1, job 1 has 1 and 1/2.
  // 1 + 1/2 > 1/4 + 1, so job 0 keeps type 0 while both are there.
  sim::Trace trace = trace_of({{0, 1, 40'000 * s}, {0, 1, 40'000 * s}});
  set_speeds(trace, {{4.0, 1.0}, {2.0, 1.0}});
  const auto run = share(machines_of_types({1, 1}), trace, "max-sum");
  ASSERT_EQ(run.records[0].runs.size(), 1U);
  EXPECT_EQ(run.records[0].end(), 10'000 * s);
  EXPECT_EQ(run.records[1].runs[0].tasks[0].machine, MachineId(1));
}

TEST(Shares, max_min_shares_the_fast_type) {
  // Equal jobs, one GPU at speed 3 and one at speed 1: each has half of the time on both.
  sim::Trace trace = trace_of({{0, 1, 200'000 * s}, {0, 1, 200'000 * s}});
  set_speeds(trace, {{3.0, 1.0}, {3.0, 1.0}});
  const auto run = share(machines_of_types({1, 1}), trace, "max-min");
  for (const auto& record : run.records) {
    EXPECT_NEAR(static_cast<double>(record.end()), 100'000.0 * s, 1'500.0 * s);
  }
}

TEST(Shares, idle_gpus_are_filled_between_rounds) {
  const auto run = share(one_pool(1, 1), trace_of({{0, 1, 10 * s}, {0, 1, 10 * s}}), "max-min");
  EXPECT_EQ(start_seconds(run), (std::vector<double>{0, 10}));
}

TEST(Shares, pop_of_one_part_is_max_min_and_parts_lose_little) {
  std::vector<TraceRow> rows;
  for (std::uint64_t j = 0; j < 60; ++j) {
    rows.push_back({0, 1, static_cast<sim::Micros>(2000 + random_below(2000, {j})) * s});
  }
  const auto cluster = one_pool(4, 4);
  const auto whole = share(cluster, trace_of(rows), "max-min");
  EXPECT_EQ(to_bytes(share(cluster, trace_of(rows), "pop-1").records), to_bytes(whole.records));
  const auto parts = share(cluster, trace_of(rows), "pop-4");
  EXPECT_NE(to_bytes(parts.records), to_bytes(whole.records));
  EXPECT_NEAR(mean_jct(parts), mean_jct(whole), 0.1 * mean_jct(whole));
}

TEST(Shares, names) {
  EXPECT_FALSE(sim::share_policy_options("fifo"));
  EXPECT_EQ(sim::share_policy_options("pop-16")->parts, 16);
  EXPECT_THROW((void)sim::share_policy_options("pop-"), InputError);
  EXPECT_THROW((void)sim::share_policy_options("pop-4x"), InputError);
}

TEST(Shares, live_with_failures_and_resume_to_the_same_run) {
  std::vector<TraceRow> rows;
  sim::Micros arrival = 0;
  for (std::uint64_t j = 0; j < 100; ++j) {
    arrival += static_cast<sim::Micros>(random_below(6000, {9, j, 0})) * s / 100;
    rows.push_back({arrival, static_cast<std::int32_t>(1 + random_below(6, {9, j, 1})),
                    static_cast<sim::Micros>(1 + random_below(90'000, {9, j, 2})) * s / 100});
  }
  sim::Trace trace = trace_of(rows);
  for (auto& job : trace.jobs) job.restart_cost = job.move_cost = 2 * s;
  trace.jobs[3].preemptible = false;
  const model::Cluster cluster = one_pool(3, 4);
  sim::World world;
  world.closings = sim::closings(cluster, sim::draw_failures(cluster, {900.0, 100.0, 3, 5000}));
  ASSERT_GT(world.closings.size(), 5U);
  for (const std::string policy : {"max-min", "max-sum", "pop-3"}) {
    SCOPED_TRACE(policy);
    const auto whole = share(cluster, trace, policy, world);
    for (const auto& record : whole.records) EXPECT_TRUE(record.finished());
    sim::World half = world;
    half.stop_at = arrival / 2;
    const auto stopped = share(cluster, trace, policy, half);
    ASSERT_FALSE(stopped.complete);
    sim::World rest = world;
    rest.resume = stopped.checkpoint;
    EXPECT_EQ(to_bytes(share(cluster, trace, policy, rest).records), to_bytes(whole.records));
  }
}

}  // namespace
}  // namespace berth::test
