// SPDX-License-Identifier: Apache-2.0
// ONES as a policy: growth of one job, epochs in place, limits, what it measures, what it refuses.
#include "elastic_world.hpp"

#include <string>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/papers/ones.hpp"

namespace berth::test {
namespace {

using papers::OnesLimits;
using papers::OnesOptions;

constexpr sim::Micros s = sim::kSecond;

std::vector<ElasticRow> crowd(std::size_t jobs) {
  std::vector<ElasticRow> rows;
  for (std::size_t j = 0; j < jobs; ++j) {
    rows.push_back({.arrival = static_cast<std::int64_t>(7 * j),
                    .duration = static_cast<std::int64_t>(60 + 37 * j % 200),
                    .requested = static_cast<std::int32_t>(1 + j % 4),
                    .sync = 0.02});
  }
  return rows;
}

TEST(OnesPolicy, a_job_alone_doubles_its_gpus_every_two_epochs) {
  ElasticWorld world(std::vector{ElasticRow{.duration = 1000}});
  const auto policy = papers::make_ones(world.world(), world.training(10.0), {});
  const sim::Run run = world.run(*policy);
  const auto& runs = run.records[0].runs;
  ASSERT_EQ(runs.size(), 4U);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const std::int64_t gpus = std::int64_t{1} << r;
    EXPECT_EQ(runs[r].milli, 1000 * gpus);
    EXPECT_EQ(runs[r].batch, 16 * std::min<std::int64_t>(gpus, 4));  // the learning rate ends at 4
    EXPECT_EQ(runs[r].overhead, r == 0 ? 0 : ElasticWorld::kResize * s);
    if (r + 1 < runs.size()) {
      // two epochs of 10 s on one GPU, found at the next second
      const auto length = static_cast<double>(runs[r].end - runs[r].start - runs[r].overhead) / s;
      EXPECT_GE(length, 20.0 / static_cast<double>(gpus));
      EXPECT_LE(length, 20.0 / static_cast<double>(gpus) + 2.0);
    }
  }
}

/// Epochs of 10 s on one GPU in the shortest run that a move or resize ended.
double shortest_run(const sim::Run& run) {
  double least = 1e9;
  for (const auto& record : run.records) {
    for (std::size_t r = 0; r + 1 < record.runs.size(); ++r) {
      const double samples = static_cast<double>(record.runs[r].work) * 1e-6;
      least = std::min(least, samples / 10.0);
    }
  }
  return least;
}

TEST(OnesPolicy, no_job_is_moved_before_it_has_trained_an_epoch_in_place) {
  auto rows = crowd(12);
  for (ElasticRow& row : rows) row.requested = 1;  // a second of work is one on one GPU
  ElasticWorld world(rows);
  const auto policy = papers::make_ones(world.world(), world.training(10.0), {});
  const sim::Run run = world.run(*policy);
  EXPECT_GE(shortest_run(run), 1.0 - 1e-5);
  ElasticWorld same(rows);
  OnesOptions hasty;
  hasty.epochs_in_place = 0.0;
  const auto other = papers::make_ones(same.world(), same.training(10.0), hasty);
  EXPECT_LT(shortest_run(same.run(*other)), 0.9);
}

TEST(OnesPolicy, equal_seeds_have_equal_runs) {
  const auto records = [](std::uint64_t seed) {
    ElasticWorld world(crowd(15));
    const auto policy = papers::make_ones(world.world(seed), world.training(10.0), {});
    const sim::Run run = world.run(*policy);
    for (const auto& record : run.records) EXPECT_TRUE(record.finished());
    return to_bytes(run.records);
  };
  EXPECT_EQ(records(1), records(1));
  EXPECT_NE(records(1), records(2));
}

TEST(OnesLimits, double_at_the_limit_shrink_when_large_and_old_and_halve) {
  ElasticWorld world(std::vector{ElasticRow{}});
  OnesLimits limits(papers::elastic_jobs("ones", world.world()), 8, 1.0);
  const JobId job(std::size_t{0});
  EXPECT_EQ(limits.limit(job), 1);
  for (const std::int32_t expected : {2, 4, 8, 8}) {
    limits.grow(job, limits.limit(job));
    EXPECT_EQ(limits.limit(job), expected);
  }
  limits.grow(job, 3);  // below its limit
  limits.shrink(job, 3, 9.0);
  limits.shrink(job, 8, 1.0);
  EXPECT_EQ(limits.limit(job), 8);
  limits.shrink(job, 8, 2.0);  // x = floor(16 / 3) = 5
  EXPECT_EQ(limits.limit(job), 6);
  limits.shrink(job, 4, 100.0);  // x = 1
  EXPECT_EQ(limits.limit(job), 2);
  limits.halve(job);
  limits.halve(job);
  EXPECT_EQ(limits.limit(job), 1);
}

TEST(TrainingMonitor, throughput_is_linear_between_measurements_and_beyond) {
  ElasticWorld world(std::vector{ElasticRow{.duration = 1000}});
  const sim::WorldSpeeds speeds(world.tiny.instance, world.profiles, 0.0);
  const sim::Trace trace = sim::make_trace(world.tiny.instance, {}, &speeds);
  policy::State state(world.tiny.instance.cluster, trace.demands, trace.jobs);
  papers::TrainingMonitor monitor(world.world(), world.training(10.0), {});
  const JobId job(std::size_t{0});
  state.arrive(job);
  sim::Micros now = 0;
  const auto measure = [&](std::uint32_t gpus, double speed) {
    if (state.progress(job).phase == policy::Phase::running) state.stop(job);
    state.choose(job, gpus - 1);
    ASSERT_TRUE(state.start(job));
    state.set_speed(job, speed);
    state.advance(now += 5 * s);
    monitor.observe(state, job);
  };
  EXPECT_EQ(monitor.throughput(job, 3), 0.0);
  measure(2, 1.5);  // 100 samples a second of work
  EXPECT_NEAR(monitor.throughput(job, 1), 75.0, 1e-6);
  EXPECT_NEAR(monitor.throughput(job, 4), 300.0, 1e-6);
  EXPECT_FALSE(monitor.predicted(job));  // 7.5 s of work, an epoch has 10
  measure(4, 2.5);
  EXPECT_NEAR(monitor.throughput(job, 3), 200.0, 1e-6);
  EXPECT_NEAR(monitor.throughput(job, 6), 350.0, 1e-6);
  measure(8, 0.5);  // beyond the fall the line would cross zero
  EXPECT_NEAR(monitor.throughput(job, 6), 150.0, 1e-6);
  EXPECT_TRUE(monitor.predicted(job));
  EXPECT_NEAR(monitor.epochs(job), (7.5 + 12.5 + 2.5) / 10.0, 1e-6);
  EXPECT_GT(monitor.remaining(state, job, 1), 0.0);
  EXPECT_NE(monitor.remaining(state, job, 1), monitor.remaining(state, job, 2));
}

TEST(TrainingMonitor, residual_epochs_are_those_of_finished_jobs_that_lasted_longer) {
  ElasticWorld world(std::vector{ElasticRow{.duration = 1000}});
  const sim::WorldSpeeds speeds(world.tiny.instance, world.profiles, 0.0);
  const sim::Trace trace = sim::make_trace(world.tiny.instance, {}, &speeds);
  policy::State state(world.tiny.instance.cluster, trace.demands, trace.jobs);
  papers::MonitorOptions options;
  options.remaining = papers::RemainingWork::residual;
  for (const double total : {4.0, 10.0, 20.0})
    options.history.push_back({.features = {}, .epochs = 1.0, .progress = 1.0 / total});
  papers::TrainingMonitor monitor(world.world(), world.training(10.0), options);
  const JobId job(std::size_t{0});
  state.arrive(job);
  ASSERT_TRUE(state.start(job));
  state.advance(60 * s);
  monitor.observe(state, job);  // 6 epochs of 1,000 samples: 4 and 14 are left of the longer two
  EXPECT_NEAR(monitor.remaining(state, job, 0), 9'000.0, 1e-3);
}

void expect_refused(const ElasticWorld& world, const std::string& field) {
  try {
    (void)papers::elastic_jobs("ones", world.world());
    ADD_FAILURE() << field;
  } catch (const InputError& error) {
    EXPECT_EQ(error.where().field, field) << error.what();
    EXPECT_NE(std::string(error.what()).find("ones"), std::string::npos);
  }
}

TEST(ElasticJobs, what_is_missing_is_named) {
  ElasticWorld world(crowd(2));
  EXPECT_EQ(papers::elastic_jobs("ones", world.world())[1].requested, 2);
  ElasticWorld profile = world;
  profile.profiles.jobs[1].kind = speed::ProfileKind::ring;
  expect_refused(profile, "profile");
  ElasticWorld sizes = world;
  auto& choices = sizes.tiny.instance.workload.configurations[1];
  choices.erase(choices.begin() + 2);
  expect_refused(sizes, "configurations");
  ElasticWorld shares = world;
  shares.tiny.instance.workload.shapes[0].gpus = 2;
  expect_refused(shares, "tasks");
  ElasticWorld types = world;
  (void)types.tiny.machine_class("n", types.tiny.type("Y"), 4, 0, 0);
  expect_refused(types, "gpu_type");
}

}  // namespace
}  // namespace berth::test
