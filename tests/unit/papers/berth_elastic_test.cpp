// SPDX-License-Identifier: Apache-2.0
// Berth's elastic policy: batches, places of workers, and runs against fixed sizes.
#include "berth/papers/berth_elastic.hpp"

#include "elastic_world.hpp"

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/papers/ones.hpp"
#include "berth/papers/ones_schedule.hpp"

namespace berth::test {
namespace {

using papers::ElasticOptions;
using papers::kFreeGpu;

double mean_jct(const sim::Run& run) {
  double sum = 0.0;
  for (const auto& record : run.records) {
    EXPECT_TRUE(record.finished());
    sum += static_cast<double>(record.end() - record.arrival) / 1e6;
  }
  return sum / static_cast<double>(run.records.size());
}

std::vector<ElasticRow> crowd(std::uint64_t seed, std::size_t jobs) {
  std::vector<ElasticRow> rows;
  for (std::uint64_t j = 0; j < jobs; ++j) {
    rows.push_back({.arrival = static_cast<std::int64_t>(20 * j),
                    .duration = static_cast<std::int64_t>(20 + random_below(300, {seed, j, 0})),
                    .requested = static_cast<std::int32_t>(1 + random_below(6, {seed, j, 1})),
                    .sync = 0.05});
  }
  return rows;
}

TEST(BestBatch, grows_with_the_noise_scale_within_what_ones_may_use) {
  const ElasticWorld world(crowd(1, 1));
  speed::ElasticBatchJob profile = world.profiles.goodputs[0];
  profile.time.sync_local_fixed = 0.05;
  const papers::TrainingJob training = world.training(10.0)[0];
  EXPECT_EQ(papers::best_batch(profile, training, 0.0, 2, 1).samples, 32);
  EXPECT_EQ(papers::best_batch(profile, training, 0.0, 8, 2).samples, 64);  // ratio 4
  profile.noise[0].noise_scale = 1.0;  // what is beyond the smallest batch is wasted
  EXPECT_EQ(papers::best_batch(profile, training, 0.0, 2, 1).samples, 16);
}

TEST(ModelledThroughput, is_that_of_the_profile_from_one_measurement_of_each_kind) {
  speed::IterationTime time;
  time.compute_per_sample = 0.01;
  time.sync_local_fixed = 0.03;
  time.sync_fixed = 0.05;
  const ElasticWorld world(crowd(1, 1));
  const papers::TrainingJob training = world.training(10.0)[0];  // 16 samples, at most 64
  const auto real = [&](std::int32_t gpus) {
    const double samples = std::min(16, 64 / gpus) * gpus;
    return samples / time.seconds(samples, gpus, (gpus + 3) / 4);
  };
  using Measured = papers::TrainingMonitor::Measured;
  const std::vector<Measured> one{{1, real(1)}};
  const auto first = papers::modelled_throughput(one, training, 8, 4);
  ASSERT_EQ(first.size(), 5U);
  EXPECT_NEAR(first[4], 4.0 * real(1), 1e-9);
  const std::vector<Measured> three{{1, real(1)}, {2, real(2)}, {8, real(8)}};
  const auto rates = papers::modelled_throughput(three, training, 8, 4);
  for (std::int32_t gpus = 1; gpus <= 8; ++gpus)
    EXPECT_NEAR(rates[static_cast<std::size_t>(gpus)], real(gpus), 1e-9) << gpus;
}

TEST(PlaceWorkers, jobs_whose_number_stays_keep_their_gpus_and_others_stay_together) {
  const ElasticWorld world(crowd(1, 1), 3);
  const auto line = papers::gpu_line(world.tiny.instance.cluster);
  const std::vector<std::int32_t> owner{0, 0, kFreeGpu, 1, 1, 1, 1, 2, 2, kFreeGpu, 3, 3};
  // 1 shrinks off machine 0, where it has one; 0 grows there; 4 takes the first of two machines
  // with one free GPU
  const auto next = papers::place_workers(line, owner, std::vector<std::int32_t>{3, 3, 2, 2, 1});
  EXPECT_EQ(next, (std::vector<std::int32_t>{0, 0, 0, 4, 1, 1, 1, 2, 2, kFreeGpu, 3, 3}));
}

TEST(PlaceWorkers, counts_are_met_and_equal_numbers_do_not_move) {
  const ElasticWorld world(crowd(1, 1), 3);
  const auto line = papers::gpu_line(world.tiny.instance.cluster);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<std::int32_t> owner, counts(5);
    for (std::uint64_t i = 0; i < line.size(); ++i) {
      owner.push_back(static_cast<std::int32_t>(random_below(6, {seed, 0, i})) - 1);
      const std::uint64_t to = random_below(6, {seed, 1, i});
      if (to < 5) ++counts[to];
    }
    const auto next = papers::place_workers(line, owner, counts);
    EXPECT_EQ(papers::gpus_by_job(next, 5), counts);
    const auto before = papers::gpus_by_job(owner, 5);
    for (std::size_t i = 0; i < owner.size(); ++i) {
      if (owner[i] == kFreeGpu) continue;
      const auto job = static_cast<std::size_t>(owner[i]);
      EXPECT_TRUE(before[job] != counts[job] || next[i] == owner[i]);
    }
  }
}

TEST(BerthElastic, one_job_takes_all_gpus_that_speed_it_up_and_is_left_alone) {
  ElasticWorld world(std::vector{ElasticRow{.duration = 400, .sync = 0.05}});
  const auto policy = papers::make_berth_elastic(world.world(), world.training(10.0), {});
  const sim::Run run = world.run(*policy);
  ASSERT_EQ(run.records[0].runs.size(), 1U);
  EXPECT_EQ(run.records[0].runs[0].milli, 8000);
  EXPECT_EQ(run.records[0].runs[0].batch, 64);
  // 100 samples/s on one GPU; 64 in 0.08 + 0.05 s on eight
  EXPECT_NEAR(static_cast<double>(run.records[0].end()) / 1e6, 400.0 * 100.0 * 0.13 / 64.0, 1e-3);
}

TEST(BerthElastic, is_well_ahead_of_fixed_sizes_and_of_ones_in_mean_completion_time) {
  double elastic = 0.0, learned = 0.0, ones = 0.0, fixed = 0.0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto rows = crowd(seed, 15);
    ElasticWorld world(rows);
    const auto training = world.training(5.0);
    elastic += mean_jct(world.run(*papers::make_berth_elastic(world.world(), training, {})));
    ElasticOptions options;
    options.knowledge = papers::ElasticKnowledge::training;
    learned += mean_jct(world.run(*papers::make_berth_elastic(world.world(), training, options)));
    ones += mean_jct(world.run(*papers::make_ones(world.world(), training, {})));
    fixed += mean_jct(world.run(*policy::policy_row("srsf").make({})));
  }
  RecordProperty("elastic", std::to_string(elastic / 4));
  RecordProperty("learned", std::to_string(learned / 4));
  RecordProperty("ones", std::to_string(ones / 4));
  RecordProperty("fixed", std::to_string(fixed / 4));
  EXPECT_LT(elastic, 0.9 * fixed);
  EXPECT_LT(elastic, 0.9 * ones);
  EXPECT_LT(learned, 0.8 * ones);
}

}  // namespace
}  // namespace berth::test
