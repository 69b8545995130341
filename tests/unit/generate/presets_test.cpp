// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/generate/generate.hpp"

namespace berth::generate {
namespace {

using model::Instance;
using model::Job;

std::int64_t asked_milli(const Instance& instance) {
  std::int64_t total = 0;
  for (const Job& job : instance.workload.jobs) total += instance.workload.gpu_milli(job);
  return total;
}

/// Jobs by GPU thousandths, as a share of all.
std::map<std::int64_t, double> size_shares(const Instance& instance) {
  std::map<std::int64_t, double> share;
  const double one = 1.0 / static_cast<double>(instance.workload.jobs.size());
  for (const Job& job : instance.workload.jobs) share[instance.workload.gpu_milli(job)] += one;
  return share;
}

class Presets : public testing::TestWithParam<Preset> {};

TEST_P(Presets, meet_gpus_and_load_at_every_size) {
  for (const std::int64_t gpus : {1, 100, 777, 4096, 20'000}) {
    for (const double load : {0.9, 1.5}) {
      SCOPED_TRACE(testing::Message() << gpus << " GPUs, load " << load);
      const auto instance = generate(GetParam(), {.gpus = gpus, .load = load});
      EXPECT_EQ(instance.cluster.gpus(), gpus);
      const double missed =
          1000.0 * load * static_cast<double>(gpus) - static_cast<double>(asked_milli(instance));
      EXPECT_GE(missed, -0.5);
      EXPECT_LT(missed, 1000.0);  // a size of 1 GPU or less is in every mix
    }
  }
}

TEST_P(Presets, meet_the_number_of_jobs_and_tilt_towards_the_load) {
  const auto few = generate(GetParam(), {.gpus = 4096, .jobs = 40});
  const auto many = generate(GetParam(), {.gpus = 4096, .jobs = 4000});
  EXPECT_EQ(few.workload.jobs.size(), 40U);
  EXPECT_EQ(many.workload.jobs.size(), 4000U);
  EXPECT_NEAR(static_cast<double>(asked_milli(many)) / (1200.0 * 4096.0), 1.0, 0.15);
  EXPECT_TRUE(generate(GetParam(), {.gpus = 8, .jobs = 0}).workload.jobs.empty());
}

TEST_P(Presets, are_a_function_of_their_options) {
  const GenerateOptions options{.gpus = 4096, .seed = 5};
  const auto digest = model::instance_digest(generate(GetParam(), options));
  EXPECT_EQ(digest, model::instance_digest(generate(GetParam(), options)));
  EXPECT_NE(digest, model::instance_digest(generate(GetParam(), {.gpus = 4096, .seed = 6})));
}

TEST_P(Presets, ask_for_no_more_than_a_machine_and_a_quarter_of_the_cluster) {
  const auto instance = generate(GetParam(), {.gpus = 2048});
  const auto& w = instance.workload;
  for (const Job& job : w.jobs) {
    EXPECT_LE(w.gpu_milli(job), 512'000);
    EXPECT_TRUE(std::ranges::any_of(instance.cluster.classes, [&](const auto& c) {
      return std::ranges::all_of(w.groups_of(job), [&](const auto& g) {
        const model::Shape& s = w.shape(g.shape);
        return s.total_milli() <= 1000 * c.gpus + (s.uses_gpu() ? 0 : 1) &&
               s.needs.within(c.capacity);
      });
    }));
  }
}

TEST_P(Presets, number_everything_along_the_fabric) {
  const auto cluster = generate(GetParam(), {.gpus = 9000}).cluster;
  EXPECT_TRUE(std::ranges::is_sorted(cluster.machine_rack));
  EXPECT_TRUE(std::ranges::is_sorted(cluster.racks, {}, &model::Rack::pod));
  std::map<std::string, int> names;
  for (std::size_t m = 0; m < cluster.machines(); ++m)
    ++names[std::string(cluster.machine_names[m])];
  EXPECT_EQ(names.size(), cluster.machines());
}

INSTANTIATE_TEST_SUITE_P(, Presets,
                         testing::Values(Preset::openb_like, Preset::philly_like,
                                         Preset::llm_like));

TEST(PhillyLike, has_the_fabric_and_sizes_of_its_description) {
  const auto instance = generate(Preset::philly_like, {.gpus = 65536, .seed = 2, .load = 1.5});
  const auto& cluster = instance.cluster;
  EXPECT_EQ(cluster.pods.size(), 128U);
  EXPECT_EQ(cluster.racks.size(), 1024U);
  EXPECT_EQ(cluster.gpu_types.size(), 3U);
  std::size_t mixed = 0;
  for (std::size_t m = 0; m < cluster.machines(); m += 64) {  // first and last machine of a pod
    mixed += cluster.machine_class[m] != cluster.machine_class[m + 63] ? 1U : 0U;
  }
  EXPECT_NEAR(static_cast<double>(mixed), 25.6, 12.0);
  auto share = size_shares(instance);
  EXPECT_NEAR(share[1'000], 0.47, 0.02);
  EXPECT_NEAR(share[8'000], 0.145, 0.015);
  EXPECT_NEAR(share[32'000], 0.03, 0.006);
  EXPECT_NEAR(share[96'000], 0.009, 0.003);
  EXPECT_GT(share[512'000], 0.0);
}

TEST(PhillyLike, splits_gangs_into_workers_of_eight_or_four) {
  const auto instance = generate(Preset::philly_like, {.gpus = 65536, .load = 1.5});
  const auto& w = instance.workload;
  double gangs = 0.0;
  double fours = 0.0;
  double homes = 0.0;
  double log_weights = 0.0;
  double squares = 0.0;
  for (const Job& job : w.jobs) {
    ASSERT_EQ(job.groups, 1U);
    const auto& group = w.groups_of(job).front();
    const std::int64_t gpus = w.gpu_milli(job) / 1000;
    if (gpus <= 8) {
      EXPECT_EQ(group.count, 1);
      EXPECT_EQ(job.width_factor, 0U);
    } else {
      gangs += 1.0;
      fours += w.shape(group.shape).gpus == 4 ? 1.0 : 0.0;
      const model::Factors& f = w.factors[job.width_factor];
      EXPECT_EQ(f[1], 1.0);
      EXPECT_EQ(f[2] == 1.0, gpus > 64);
      EXPECT_LT(f[3], f[2]);
    }
    homes += job.home_pod.valid() ? 1.0 : 0.0;
    const double log_weight = std::log(job.weight);
    log_weights += log_weight;
    squares += log_weight * log_weight;
  }
  const auto jobs = static_cast<double>(w.jobs.size());
  EXPECT_NEAR(fours / gangs, 0.15, 0.03);
  EXPECT_NEAR(homes / jobs, 0.3, 0.02);
  EXPECT_NEAR(log_weights / jobs, 0.0, 0.05);  // a home adds 1.5 % on average
  EXPECT_NEAR(std::sqrt(squares / jobs), 0.6, 0.03);
}

/// Large sizes come by chance: that is what makes one seed harder than another.
TEST(PhillyLike, differs_by_seed_in_its_large_gangs) {
  std::map<double, int> shares;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    ++shares[size_shares(generate(Preset::philly_like, {.seed = seed}))[512'000]];
  }
  EXPECT_GE(shares.size(), 3U);
}

TEST(PhillyLike, cuts_sizes_at_a_quarter_of_the_cluster) {
  auto share = size_shares(generate(Preset::philly_like, {.gpus = 440, .jobs = 2000, .load = 60}));
  EXPECT_EQ(share.rbegin()->first, 104'000);  // 110 GPUs in whole machines
  EXPECT_GT(share[104'000], 0.0);
}

TEST(LlmLike, is_about_gangs_of_256_to_1024) {
  const auto instance = generate(Preset::llm_like, {.gpus = 65536, .load = 1.5});
  double jobs = 0.0;
  double milli = 0.0;
  for (const auto& [size, share] : size_shares(instance)) {
    if (size < 256'000 || size > 1'024'000) continue;
    jobs += share;
    milli += share * static_cast<double>(size) * static_cast<double>(instance.workload.jobs.size());
  }
  EXPECT_NEAR(jobs, 0.47, 0.06);
  EXPECT_GT(milli / static_cast<double>(asked_milli(instance)), 0.88);
}

TEST(OpenbLike, has_the_published_mix) {
  const auto instance = generate(Preset::openb_like, {.gpus = 6212, .load = 1.3});
  std::map<std::string, double> jobs;
  for (const auto& [milli, share] : size_shares(instance)) {
    jobs[milli == 0 ? "cpu" : milli < 1000 ? "share" : milli == 1000 ? "one" : "more"] += share;
  }
  EXPECT_NEAR(jobs["cpu"], 0.133, 0.015);
  EXPECT_NEAR(jobs["share"], 0.375, 0.02);
  EXPECT_NEAR(jobs["one"], 0.48, 0.02);
  EXPECT_NEAR(jobs["more"], 0.009, 0.004);
  std::map<std::string, std::int64_t> gpus;
  const auto& cluster = instance.cluster;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const auto& c = cluster.class_of(MachineId(m));
    gpus[cluster.gpu_types[c.gpu_type.index()]] += c.gpus;
  }
  EXPECT_NEAR(static_cast<double>(gpus["G2"]), 4392.0, 60.0);
  EXPECT_NEAR(static_cast<double>(gpus["T4"]), 842.0, 20.0);
  EXPECT_NEAR(static_cast<double>(cluster.machines()), 1213.0, 15.0);
}

TEST(OpenbLike, adds_cpu_only_machines_when_asked) {
  const auto cluster = generate(Preset::openb_like, {.gpus = 800, .cpu_machines = 0.25}).cluster;
  std::size_t cpu_only = 0;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    cpu_only += cluster.class_of(MachineId(m)).gpus == 0 ? 1U : 0U;
  }
  EXPECT_EQ(cpu_only, (cluster.machines() - cpu_only + 2) / 4);
}

TEST(Generate, gives_cpu_only_machines_only_to_presets_with_cpu_only_jobs) {
  EXPECT_THROW(generate(Preset::philly_like, {.cpu_machines = 0.1}), InputError);
  EXPECT_THROW(generate(Preset::llm_like, {.cpu_machines = 0.1}), InputError);
}

}  // namespace
}  // namespace berth::generate
