// SPDX-License-Identifier: Apache-2.0
// What happens beside arrivals and ends: slots, sizes, bookings, closed machines, rates by place.
#include "one_pool.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/sim/outages.hpp"

namespace berth::test {
namespace {

constexpr sim::Micros s = sim::kSecond;

/// A policy given as a function.
class Scripted final : public policy::Policy {
 public:
  explicit Scripted(std::function<void(policy::State&)> decide) : decide_(std::move(decide)) {}
  void decide(policy::State& state) override { decide_(state); }

 private:
  std::function<void(policy::State&)> decide_;
};

sim::Run replay_in(const model::Cluster& cluster, const sim::Trace& trace,
                   const std::string& policy, const sim::World& world) {
  const auto made = policy::policy_row(policy).make({});
  return sim::simulate(cluster, trace, *made, {}, world);
}

/// One job of 100 s that runs on 1 GPU at speed 1 or on 2 GPUs at speed 1.5.
sim::Trace elastic_job() {
  sim::Trace trace = trace_of({{0, 1, 100 * s}});
  policy::Demand wide = trace.demands[0];
  wide.groups[0].count = 2;
  wide.milli = 2000;
  wide.speeds = {1.5};
  trace.demands.push_back(wide);
  trace.jobs[0].configurations = 2;
  trace.jobs[0].elastic = true;
  trace.jobs[0].resize_cost = 4 * s;
  return trace;
}

TEST(World, a_resize_costs_time_and_changes_the_speed) {
  Scripted policy([](policy::State& state) {
    if (state.now() == 0) {
      state.start(JobId(0));
      state.wake_at(40 * s);
    } else if (state.progress(JobId(0)).phase == policy::Phase::running) {
      EXPECT_TRUE(state.resize(JobId(0), 1));
    }
  });
  const auto run = sim::simulate(one_pool(1, 2), elastic_job(), policy);
  ASSERT_EQ(run.records[0].runs.size(), 2U);
  EXPECT_EQ(run.records[0].runs[0].work, 40 * s);
  EXPECT_EQ(run.records[0].runs[1].milli, 2000);
  EXPECT_EQ(run.records[0].runs[1].configuration, 1);
  EXPECT_EQ(run.records[0].end(), 40 * s + 4 * s + 40 * s);  // 60 s of work at 1.5
}

TEST(World, a_resize_that_fits_nowhere_changes_nothing) {
  Scripted policy([](policy::State& state) {
    if (state.now() == 0) {
      state.start(JobId(0));
      state.wake_at(40 * s);
    } else if (state.progress(JobId(0)).phase == policy::Phase::running) {
      EXPECT_FALSE(state.resize(JobId(0), 1));
    }
  });
  const auto run = sim::simulate(one_pool(1, 1), elastic_job(), policy);
  ASSERT_EQ(run.records[0].runs.size(), 1U);
  EXPECT_EQ(run.records[0].end(), 100 * s);
}

TEST(World, a_booking_starts_a_job_where_and_when_it_says) {
  Scripted policy([](policy::State& state) {
    if (state.now() > 0) return;
    const std::vector<model::TaskPlacement> tasks{
        {.machine = MachineId(1), .group = 0, .devices = 2, .milli = 1000}};
    state.book(JobId(0), 7 * s, GpuTypeId(0), tasks);
  });
  const auto run = sim::simulate(one_pool(2, 2), trace_of({{0, 1, 5 * s}}), policy);
  EXPECT_EQ(run.records[0].runs[0].start, 7 * s);
  EXPECT_EQ(run.records[0].runs[0].tasks[0].machine, MachineId(1));
  EXPECT_EQ(run.records[0].runs[0].tasks[0].devices, 2U);
  EXPECT_EQ(run.records[0].promised, 7 * s);
}

TEST(World, a_booking_of_taken_devices_is_missed) {
  bool missed = false;
  Scripted policy([&](policy::State& state) {
    if (state.now() == 0) {
      const std::vector<model::TaskPlacement> tasks{
          {.machine = MachineId(0), .group = 0, .devices = 1, .milli = 1000}};
      state.book(JobId(1), 7 * s, GpuTypeId(0), tasks);
      state.start(JobId(0));
    }
    missed = missed || !state.missed().empty();
    if (!state.ended().empty() && state.waiting() > 0) state.start(JobId(1));
  });
  const auto run = sim::simulate(one_pool(1, 1), trace_of({{0, 1, 9 * s}, {0, 1, 5 * s}}), policy);
  EXPECT_TRUE(missed);
  EXPECT_EQ(run.records[1].runs[0].start, 9 * s);
}

TEST(World, decisions_wait_for_the_slot) {
  const sim::World world{.slot = 10 * s};
  const auto run =
      replay_in(one_pool(1, 1), trace_of({{1 * s, 1, 5 * s}, {2 * s, 1, 5 * s}}), "fifo", world);
  EXPECT_EQ(start_seconds(run), (std::vector<double>{10, 20}));
  EXPECT_EQ(run.records[0].end(), 15 * s);  // ends are not rounded
}

TEST(World, a_failure_takes_the_work_since_the_last_checkpoint) {
  sim::Trace trace = trace_of({{0, 1, 100 * s}});
  trace.jobs[0].saved_every = 30 * s;
  trace.jobs[0].restart_cost = 5 * s;
  const sim::World world{.closings = {{MachineId(0), 70 * s, 200 * s}}};
  const auto run = replay_in(one_pool(1, 1), trace, "fifo", world);
  ASSERT_EQ(run.records[0].runs.size(), 2U);
  EXPECT_EQ(run.records[0].runs[0].end, 70 * s);
  EXPECT_EQ(run.records[0].runs[0].work, 60 * s);
  EXPECT_EQ(run.records[0].runs[0].ended, model::RunEnd::failed);
  EXPECT_EQ(run.records[0].runs[1].start, 200 * s);
  EXPECT_EQ(run.records[0].end(), 200 * s + 5 * s + 40 * s);
}

TEST(World, a_planned_outage_takes_no_work_of_a_job_that_loses_none_by_a_stop) {
  sim::Trace trace = trace_of({{0, 1, 100 * s}});
  trace.jobs[0].saved_every = sim::kNever;
  const sim::World world{.closings = {{MachineId(0), 70 * s, 200 * s, policy::Outage::planned}}};
  const auto run = replay_in(one_pool(1, 1), trace, "fifo", world);
  EXPECT_EQ(run.records[0].end(), 230 * s);
}

TEST(World, every_policy_lives_with_failures_and_resumes_to_the_same_run) {
  std::vector<TraceRow> rows;
  sim::Micros arrival = 0;
  for (std::uint64_t j = 0; j < 120; ++j) {
    arrival += static_cast<sim::Micros>(random_below(400, {9, j, 0})) * s / 100;
    rows.push_back({arrival, static_cast<std::int32_t>(1 + random_below(6, {9, j, 1})),
                    static_cast<sim::Micros>(1 + random_below(6000, {9, j, 2})) * s / 100});
  }
  sim::Trace trace = trace_of(rows);
  for (auto& job : trace.jobs) job.saved_every = 7 * s;
  const model::Cluster cluster = one_pool(3, 4);
  sim::World world;
  world.closings = sim::closings(cluster, sim::draw_failures(cluster, {120.0, 20.0, 3, 500}));
  ASSERT_GT(world.closings.size(), 5U);
  for (const policy::PolicyRow& row : policy::policy_table()) {
    SCOPED_TRACE(row.name);
    const std::string name(row.name);
    const auto whole = replay_in(cluster, trace, name, world);
    std::size_t failed = 0;
    for (const auto& record : whole.records) {
      EXPECT_TRUE(record.finished());
      for (const auto& run : record.runs) failed += run.ended == model::RunEnd::failed ? 1 : 0;
    }
    EXPECT_GT(failed, 0U);
    ByteWriter unused;
    if (!row.make({})->save(unused)) continue;
    sim::World half = world;
    half.stop_at = arrival / 2;
    const auto stopped = replay_in(cluster, trace, name, half);
    ASSERT_FALSE(stopped.complete);
    sim::World rest = world;
    rest.resume = stopped.checkpoint;
    const auto resumed = replay_in(cluster, trace, name, rest);
    EXPECT_EQ(to_bytes(resumed.records), to_bytes(whole.records));
    EXPECT_EQ(resumed.decisions, whole.decisions);
  }
}

TEST(World, a_job_starts_when_those_it_waits_for_have_ended) {
  sim::Trace trace = trace_of({{0, 1, 10 * s}, {1 * s, 1, 5 * s}, {20 * s, 1, 5 * s}});
  trace.dependencies = {{JobId(1), JobId(0)}, {JobId(2), JobId(1)}};
  const auto run = replay(one_pool(1, 4), trace, "fifo");
  EXPECT_EQ(start_seconds(run), (std::vector<double>{0, 10, 20}));
}

TEST(World, no_policy_exceeds_a_quota) {
  sim::Trace trace = trace_of({{0, 1, 10 * s}, {0, 1, 10 * s}, {0, 1, 10 * s}});
  for (auto& job : trace.jobs) job.queue = QueueId(1);
  trace.quotas = {{QueueId(), 2000}, {QueueId(0), -1}};
  for (const policy::PolicyRow& row : policy::policy_table()) {
    SCOPED_TRACE(row.name);
    const auto run = replay(one_pool(1, 4), trace, std::string(row.name));
    EXPECT_EQ(start_seconds(run), (std::vector<double>{0, 0, 10}));
  }
}

TEST(World, no_policy_takes_more_licenses_than_there_are) {
  sim::Trace trace =
      trace_of({{0, 1, 10 * s}, {0, 1, 10 * s}, {0, 1, 10 * s}, {0, 1, 30 * s}, {2 * s, 1, 4 * s}});
  trace.licenses = {.free = {2}, .rows = {{}, {{.license = 0, .count = 1}}}};
  for (std::size_t j = 0; j < 3; ++j) trace.jobs[j].licenses = 1;
  for (const policy::PolicyRow& row : policy::policy_table()) {
    SCOPED_TRACE(row.name);
    const auto run = replay(one_pool(1, 4), trace, std::string(row.name));
    EXPECT_EQ(run.records[2].runs.front().start, 10 * s);
    // fifo lets nobody pass the third job, conservative backfill keeps a GPU for it
    const bool waits = row.name == "fifo" || row.name == "conservative";
    EXPECT_EQ(run.records[4].runs.front().start, waits ? 10 * s : 2 * s);
  }
}

}  // namespace
}  // namespace berth::test
