// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/berth_policy.hpp"

#include "one_pool.hpp"
#include "with_petsc.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/sim/simulate.hpp"

namespace berth::test {
namespace {

constexpr sim::Micros s = sim::kSecond;

class BerthPolicy : public WithPetsc<> {};

/// Two GPU types of `machines` x 4 each; the second one is slower for each job by its own factor.
model::Cluster two_pools(int machines) {
  Tiny tiny;
  const ClassId fast = tiny.machine_class("f", tiny.type("X"), 4, 0, 0);
  const ClassId slow = tiny.machine_class("s", tiny.type("Y"), 4, 0, 0);
  tiny.pod();
  tiny.rack();
  for (int m = 0; m < machines; ++m) tiny.machine(fast);
  for (int m = 0; m < machines; ++m) tiny.machine(slow);
  return tiny.instance.cluster;
}

/// Jobs of 1 to 8 GPUs and heavy-tailed seconds that ask for this share of `gpus`.
std::vector<TraceRow> busy_rows(std::uint64_t seed, std::size_t jobs, double gpus, double load) {
  std::vector<TraceRow> rows;
  double at = 0.0;
  for (std::size_t j = 0; j < jobs; ++j) {
    const auto width = static_cast<std::int32_t>(1U << random_below(4, {seed, j, 0}));
    const double work = 60.0 * std::pow(200.0, random_unit({seed, j, 1}));
    rows.push_back({static_cast<sim::Micros>(at) * s, width, static_cast<sim::Micros>(work) * s});
    constexpr double kMeanGpuSeconds = 3.75 * 60.0 * 199.0 / 5.298;
    at += -std::log(1.0 - random_unit({seed, j, 2})) * kMeanGpuSeconds / (load * gpus);
  }
  return rows;
}

/// Lets the jobs run on both types, on the second one 1.1 to 3 times as long.
void give_choice(sim::Trace& trace, std::uint64_t seed) {
  std::vector<policy::Demand> demands;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    policy::Demand demand = trace.demands[trace.jobs[j].demand];
    const auto step = static_cast<double>(random_below(5, {seed, j, 9}));
    demand.types = {GpuTypeId(0), GpuTypeId(1)};
    demand.speeds = {1.0, 1.0 / (1.1 + 0.475 * step)};
    std::uint32_t index = 0;
    while (index < demands.size() && !(demands[index] == demand)) ++index;
    if (index == demands.size()) demands.push_back(demand);
    trace.jobs[j].demand = index;
  }
  trace.demands = demands;
}

sim::Run replay_berth(const model::Cluster& cluster, const sim::Trace& trace,
                      const sim::BerthOptions& options, sim::BerthCounts& counts,
                      const sim::World& world = {}) {
  const auto policy = sim::make_berth(options, counts);
  return sim::simulate(cluster, trace, *policy, {}, world);
}

sim::Run replay_berth(const model::Cluster& cluster, const sim::Trace& trace,
                      const sim::BerthOptions& options) {
  sim::BerthCounts counts;
  return replay_berth(cluster, trace, options, counts);
}

TEST_F(BerthPolicy, ties_with_srsf_on_one_type) {
  double ours = 0.0, srsf = 0.0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const sim::Trace trace = trace_of(busy_rows(seed, 400, 32.0, 0.9));
    sim::BerthOptions options;
    options.spacing = options.least_run = 0;
    options.hysteresis = options.ageing = 0.0;
    ours += mean_jct(replay_berth(one_pool(8, 4), trace, options));
    srsf += mean_jct(replay(one_pool(8, 4), trace, "srsf"));
  }
  EXPECT_LE(ours, 1.01 * srsf);
}

TEST_F(BerthPolicy, is_ahead_of_srsf_on_two_types) {
  double ours = 0.0, srsf = 0.0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    sim::Trace trace = trace_of(busy_rows(seed, 400, 32.0, 0.9));
    give_choice(trace, seed);
    for (auto& job : trace.jobs) job.restart_cost = job.move_cost = 60 * s;
    ours += mean_jct(replay_berth(two_pools(5), trace, {}));
    srsf += mean_jct(replay(two_pools(5), trace, "srsf"));
  }
  EXPECT_LT(ours, srsf);
}

TEST_F(BerthPolicy, a_gang_wider_than_the_share_moves_to_the_fast_type) {
  // 16 of 40 GPUs start on the slow type and are moved when the fast one is free
  sim::Trace trace = trace_of({{0, 20, 4000 * s}, {0, 16, 20'000 * s}});
  policy::Demand either = trace.demands[trace.jobs[1].demand];
  either.types = {GpuTypeId(0), GpuTypeId(1)};
  either.speeds = {1.0, 0.5};
  trace.jobs[1].demand = static_cast<std::uint32_t>(trace.demands.size());
  trace.demands.push_back(either);
  sim::BerthCounts counts;
  const auto run = replay_berth(two_pools(5), trace, {}, counts);
  EXPECT_EQ(counts.moves, 1);
  ASSERT_EQ(run.records[1].runs.size(), 2U);
  EXPECT_EQ(run.records[1].runs[1].start, 4000 * s);
  EXPECT_EQ(run.records[1].end(), (4000 + 18'000) * s);
}

TEST_F(BerthPolicy, nothing_changed_nothing_moves) {
  // woken every 300 s while the second job waits, it has no reason to stop the first
  const std::vector<TraceRow> rows{{0, 1, 10'000 * s}, {1 * s, 1, 9'900 * s}};
  const auto run = replay_berth(one_pool(1, 1), trace_of(rows), {});
  EXPECT_GT(run.decisions, 30);
  EXPECT_EQ(run.records[0].runs.size(), 1U);
  EXPECT_EQ(run.records[1].runs.size(), 1U);
}

TEST_F(BerthPolicy, a_job_runs_300_seconds_before_it_is_stopped) {
  const std::vector<TraceRow> rows{{0, 1, 10'000 * s}, {10 * s, 1, 50 * s}};
  const auto run = replay_berth(one_pool(1, 1), trace_of(rows), {});
  ASSERT_EQ(run.records[0].runs.size(), 2U);
  EXPECT_EQ(run.records[0].runs[0].end, 300 * s);
  EXPECT_EQ(run.records[1].runs[0].start, 300 * s);
}

TEST_F(BerthPolicy, jobs_that_arrive_at_an_idle_cluster_do_not_wait) {
  const std::vector<TraceRow> rows{{0, 1, 100 * s}, {7 * s, 1, 100 * s}};
  const auto run = replay_berth(one_pool(1, 2), trace_of(rows), {});
  EXPECT_EQ(run.records[1].runs[0].start, 7 * s);
}

TEST_F(BerthPolicy, displaces_those_who_lose_their_gpus_anyway) {
  // the job of two GPUs has the most GPU-time left: it makes room, and the two others run on
  const std::vector<TraceRow> rows{
      {0, 1, 7'000 * s}, {0, 1, 7'000 * s}, {0, 2, 4'600 * s}, {400 * s, 2, 600 * s}};
  const auto run = replay_berth(one_pool(2, 2), trace_of(rows), {});
  EXPECT_EQ(run.records[0].runs.size(), 1U);
  EXPECT_EQ(run.records[1].runs.size(), 1U);
  EXPECT_EQ(run.records[2].runs.size(), 2U);
}

/// A stream of single-GPU jobs that keeps 8 GPUs busy, and a job of all GPUs.
std::vector<TraceRow> starving_rows() {
  std::vector<TraceRow> rows{{0, 8, 4'000 * s}};
  for (int j = 0; j < 2'000; ++j) rows.push_back({j * 24 * s, 1, 200 * s});
  return rows;
}

TEST_F(BerthPolicy, an_overdue_gang_comes_first) {
  sim::BerthOptions options;
  options.ageing = 0.0;
  options.overdue_factor = 2.0;
  const auto fenced = replay_berth(one_pool(2, 4), trace_of(starving_rows()), options);
  options.overdue_share = 0.0;
  const auto open = replay_berth(one_pool(2, 4), trace_of(starving_rows()), options);
  EXPECT_LT(fenced.records[0].end(), 25'000 * s);
  EXPECT_GT(open.records[0].end(), 45'000 * s);
}

TEST_F(BerthPolicy, gangs_come_first_on_their_share) {
  sim::BerthOptions options;
  options.gang_share = 1.0;
  options.gang_gpus = 8;
  const auto run = replay_berth(one_pool(2, 4), trace_of(starving_rows()), options);
  EXPECT_LT(run.records[0].end(), 5'000 * s);
}

TEST_F(BerthPolicy, without_preemption_no_job_stops) {
  double ours = 0.0, sjf = 0.0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    sim::Trace trace = trace_of(busy_rows(seed, 300, 32.0, 0.9));
    give_choice(trace, seed);
    sim::BerthOptions options;
    options.preemption = false;
    const auto run = replay_berth(two_pools(5), trace, options);
    for (const auto& record : run.records) EXPECT_EQ(record.runs.size(), 1U);
    ours += mean_jct(run);
    sjf += mean_jct(replay(two_pools(5), trace, "sjf"));
  }
  EXPECT_LT(ours, 1.1 * sjf);
}

TEST_F(BerthPolicy, goes_on_from_a_checkpoint_to_the_same_run_and_rounds) {
  sim::Trace trace = trace_of(busy_rows(5, 150, 32.0, 1.1));
  give_choice(trace, 5);
  for (auto& job : trace.jobs) job.restart_cost = job.move_cost = 60 * s;
  for (const bool preemption : {true, false}) {
    sim::BerthOptions options;
    options.preemption = preemption;
    sim::BerthCounts whole_counts, first, second;
    const auto whole = replay_berth(two_pools(5), trace, options, whole_counts);
    sim::World half;
    half.stop_at = trace.jobs[90].arrival;
    const auto stopped = replay_berth(two_pools(5), trace, options, first, half);
    ASSERT_FALSE(stopped.complete);
    sim::World rest;
    rest.resume = stopped.checkpoint;
    const auto resumed = replay_berth(two_pools(5), trace, options, second, rest);
    EXPECT_EQ(to_bytes(resumed.records), to_bytes(whole.records));
    EXPECT_EQ(to_bytes(second), to_bytes(whole_counts));
    EXPECT_LT(first.rounds.size(), second.rounds.size());
  }
}

TEST_F(BerthPolicy, rounds_prove_less_than_their_list_plans_cost) {
  sim::Trace trace = trace_of(busy_rows(6, 200, 32.0, 1.1));
  give_choice(trace, 6);
  sim::BerthCounts counts;
  (void)replay_berth(two_pools(5), trace, {}, counts);
  ASSERT_GT(counts.rounds.size(), 10U);
  for (const sim::PriceRound& round : counts.rounds) {
    EXPECT_EQ(round.bound > 0.0, round.jobs > 0);
    EXPECT_LE(round.bound, round.cost * (1.0 + 1e-9));
  }
  EXPECT_GT(sim::mean_gap(counts), 0.0);
  EXPECT_LT(sim::mean_gap(counts), 0.5);
}

TEST_F(BerthPolicy, a_round_with_many_jobs_proves_less_than_the_run_takes) {
  // all 300 jobs are there at once, so that the bound of the first round holds for the run
  auto rows = busy_rows(9, 300, 32.0, 1.0);
  for (TraceRow& row : rows) row.arrival = 0;
  sim::Trace trace = trace_of(rows);
  give_choice(trace, 9);
  sim::BerthCounts counts;
  const auto run = replay_berth(two_pools(5), trace, {}, counts);
  ASSERT_FALSE(counts.rounds.empty());
  EXPECT_EQ(counts.rounds.front().jobs, 300);
  const double took = mean_jct(run) * 300.0;
  EXPECT_LE(counts.rounds.front().bound, took);
  EXPECT_GE(counts.rounds.front().bound,
            0.15 * took);  // short searches prove little of long queues
  EXPECT_LE(counts.rounds.front().bound, counts.rounds.front().cost);
}

TEST_F(BerthPolicy, keeps_its_promises_on_random_traces) {
  // oversubscription, jobs that fit but wait, and lost work are assertions of the simulator
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    sim::Trace trace = trace_of(busy_rows(seed, 80, 24.0, 1.3));
    if (seed % 2 == 0) give_choice(trace, seed);
    for (auto& job : trace.jobs) {
      job.restart_cost = 30 * s;
      if (seed > 2) job.estimate = 0;
    }
    if (seed > 2) trace.history = policy::Residual::gittins;
    for (const bool preemption : {true, false}) {
      for (const double exponent : {1.0, 0.5}) {
        SCOPED_TRACE(testing::Message() << seed << preemption << exponent);
        sim::BerthOptions options;
        options.preemption = preemption;
        options.width_exponent = exponent;
        const auto run = replay_berth(two_pools(3), trace, options);
        for (const auto& record : run.records) EXPECT_TRUE(record.finished());
      }
    }
  }
}

}  // namespace
}  // namespace berth::test
