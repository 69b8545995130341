// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/simulate.hpp"

#include "one_pool.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::test {
namespace {

constexpr sim::Micros s = sim::kSecond;

/// Ten jobs on a machine of 4 GPUs, solved by hand (arrival, GPUs, seconds).
const std::vector<TraceRow> kTenJobs{{0, 2, 10 * s},    {0, 1, 4 * s},      {1 * s, 2, 5 * s},
                                     {2 * s, 1, 3 * s}, {3 * s, 1, 20 * s}, {3 * s, 4, 2 * s},
                                     {8 * s, 1, 1 * s}, {30 * s, 3, 2 * s}, {40 * s, 4, 1 * s},
                                     {40 * s, 1, 1 * s}};

std::vector<double> starts(const std::string& policy) {
  return start_seconds(replay(one_pool(1, 4), trace_of(kTenJobs), policy));
}

TEST(Simulate, fifo_on_ten_jobs_solved_by_hand) {
  // job 3 waits for two GPUs until 4, jobs 4 and 5 behind it until 9; job 6 needs the whole
  // machine, which job 5 leaves at 29, and jobs 7 and 8 wait behind it.
  EXPECT_EQ(starts("fifo"), (std::vector<double>{0, 0, 4, 9, 9, 29, 31, 31, 40, 41}));
}

TEST(Simulate, easy_on_ten_jobs_solved_by_hand) {
  // job 4 could start at 2 but would delay job 3, which is expected to start at 4; job 7 passes
  // job 6, which is expected to start at 29.
  EXPECT_EQ(starts("easy"), (std::vector<double>{0, 0, 4, 9, 9, 29, 10, 31, 40, 41}));
}

TEST(Simulate, best_fit_lets_every_job_pass) {
  EXPECT_EQ(starts("best-fit"), (std::vector<double>{0, 0, 10, 2, 4, 24, 8, 30, 40, 41}));
}

TEST(Simulate, srtf_stops_the_longer_job) {
  const std::vector<TraceRow> rows{{0, 1, 10 * s}, {2 * s, 1, 3 * s}};
  const auto run = replay(one_pool(1, 1), trace_of(rows), "srtf");
  ASSERT_EQ(run.records[0].runs.size(), 2U);
  EXPECT_EQ(run.records[0].runs[0].end, 2 * s);
  EXPECT_EQ(run.records[0].runs[1].start, 5 * s);
  EXPECT_EQ(run.records[0].end(), 13 * s);
  EXPECT_EQ(run.records[1].end(), 5 * s);
}

TEST(Simulate, a_stop_costs_the_restart_and_what_lies_behind_the_checkpoint) {
  sim::Trace trace = trace_of({{0, 1, 10 * s}, {5 * s, 1, 1 * s}});
  trace.jobs[0].restart_cost = 2 * s;
  trace.jobs[0].checkpoint_every = 3 * s;
  const auto run = replay(one_pool(1, 1), trace, "srtf");
  ASSERT_EQ(run.records[0].runs.size(), 2U);
  EXPECT_EQ(run.records[0].runs[0].work, 3 * s);
  EXPECT_EQ(run.records[0].runs[1].overhead, 2 * s);
  EXPECT_EQ(run.records[0].end(), 6 * s + 2 * s + 7 * s);
}

TEST(Simulate, a_job_that_is_not_preemptible_runs_on) {
  sim::Trace trace = trace_of({{0, 1, 10 * s}, {5 * s, 1, 1 * s}});
  trace.jobs[0].preemptible = false;
  const auto run = replay(one_pool(1, 1), trace, "srtf");
  EXPECT_EQ(run.records[0].runs.size(), 1U);
  EXPECT_EQ(run.records[1].end(), 11 * s);
}

TEST(Simulate, srsf_stops_the_jobs_of_least_harm_only) {
  // of two running jobs the one with the most GPU-time left stops
  const std::vector<TraceRow> rows{{0, 1, 100 * s}, {0, 1, 50 * s}, {10 * s, 1, 1 * s}};
  const auto run = replay(one_pool(1, 2), trace_of(rows), "srsf");
  EXPECT_EQ(run.records[0].runs.size(), 2U);
  EXPECT_EQ(run.records[1].runs.size(), 1U);
}

TEST(Simulate, las_serves_the_least_attained_first) {
  // after 3250 GPU-seconds the first job is in the second queue, and the second one takes over
  const std::vector<TraceRow> rows{{0, 1, 10'000 * s}, {100 * s, 1, 50 * s}};
  const auto run = replay(one_pool(1, 1), trace_of(rows), "las");
  ASSERT_EQ(run.records[0].runs.size(), 2U);
  EXPECT_EQ(run.records[1].runs[0].start, 3250 * s);
}

TEST(Simulate, every_policy_keeps_its_promises_on_random_traces) {
  // oversubscription, jobs that fit but wait, and lost work are assertions of the simulator
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    std::vector<TraceRow> rows;
    sim::Micros arrival = 0;
    for (std::uint64_t j = 0; j < 150; ++j) {
      arrival += static_cast<sim::Micros>(random_below(400, {seed, j, 0})) * s / 100;
      const auto work = static_cast<sim::Micros>(1 + random_below(6000, {seed, j, 1})) * s / 100;
      const auto guess = static_cast<sim::Micros>(1 + random_below(6000, {seed, j, 3})) * s / 100;
      rows.push_back({arrival, static_cast<std::int32_t>(1 + random_below(12, {seed, j, 2})), work,
                      seed % 2 == 0 ? guess : work});
    }
    sim::Trace trace = trace_of(rows);
    for (auto& job : trace.jobs) job.restart_cost = job.move_cost = s;
    for (const policy::PolicyRow& row : policy::policy_table()) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " policy " << row.name);
      const auto run = replay(one_pool(3, 4), trace, std::string(row.name));
      for (const auto& record : run.records) EXPECT_TRUE(record.finished());
    }
  }
}

}  // namespace
}  // namespace berth::test
