// SPDX-License-Identifier: Apache-2.0
#include "berth/generate/generate.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"

namespace berth::generate {
namespace {

using model::Instance;
using model::Job;

std::int64_t requested_milli(const Instance& instance) {
  std::int64_t total = 0;
  for (const Job& job : instance.workload.jobs) total += instance.workload.gpu_milli(job);
  return total;
}

TEST(GenerateHetero, builds_the_cluster_of_the_demo) {
  const auto instance = generate_hetero({.gpus = 16384});
  EXPECT_EQ(instance.cluster.machines(), 2048U);
  EXPECT_EQ(instance.cluster.gpus(), 16384);
  EXPECT_EQ(instance.cluster.pods.size(), 8U);
  EXPECT_EQ(instance.cluster.gpu_types.size(), 4U);
  EXPECT_GT(instance.workload.jobs.size(), 3000U);
  EXPECT_LT(instance.workload.jobs.size(), 6000U);
  EXPECT_EQ(instance.cluster.machine_names[0], "p0-r00-m00");
  EXPECT_EQ(instance.workload.job_names[7], "job-000007");
}

TEST(GenerateHetero, is_a_function_of_its_options) {
  const GenerateOptions options{.gpus = 2000, .jobs = 700, .seed = 5};
  const auto digest = model::instance_digest(generate_hetero(options));
  EXPECT_EQ(digest, model::instance_digest(generate_hetero(options)));
  auto other = options;
  other.seed = 6;
  EXPECT_NE(digest, model::instance_digest(generate_hetero(other)));
}

TEST(GenerateHetero, keeps_gpus_jobs_and_load_at_every_size) {
  for (const std::int64_t gpus : {100, 777, 4096, 16384, 100'000}) {
    for (const std::int64_t jobs : {gpus / 6, gpus / 4, gpus / 2}) {
      SCOPED_TRACE(testing::Message() << gpus << " GPUs, " << jobs << " jobs");
      const auto instance = generate_hetero({.gpus = gpus, .jobs = jobs});
      EXPECT_EQ(instance.cluster.gpus(), gpus);
      EXPECT_EQ(static_cast<std::int64_t>(instance.workload.jobs.size()), jobs);
      const double wanted = 1200.0 * static_cast<double>(gpus);
      EXPECT_NEAR(static_cast<double>(requested_milli(instance)) / wanted, 1.0, 0.12);
    }
  }
}

TEST(GenerateHetero, numbers_everything_along_the_fabric) {
  const auto& cluster = generate_hetero({.gpus = 9000, .cpu_machines = 0.02}).cluster;
  EXPECT_TRUE(std::ranges::is_sorted(cluster.machine_rack));
  EXPECT_TRUE(std::ranges::is_sorted(cluster.racks, {}, &model::Rack::pod));
  std::set<std::string> names;
  std::size_t cpu_only = 0;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    names.emplace(cluster.machine_names[m]);
    cpu_only += cluster.class_of(MachineId(m)).gpus == 0 ? 1U : 0U;
  }
  EXPECT_EQ(names.size(), cluster.machines());
  EXPECT_EQ(cpu_only, 23U);  // 2 % of 1,125 machines
}

/// Shares of jobs as GenerateOptions' documentation promises them.
TEST(GenerateHetero, has_the_published_mix) {
  const auto instance = generate_hetero({.gpus = 65536});
  const auto& w = instance.workload;
  std::map<std::string, double> share;
  double large_gpus = 0.0;
  for (const Job& job : w.jobs) {
    const std::int64_t milli = w.gpu_milli(job);
    const double one = 1.0 / static_cast<double>(w.jobs.size());
    if (milli == 0) share["cpu"] += one;
    if (milli > 0 && milli < 1000) share["shares"] += one;
    if (milli > 0 && milli <= 1000) share["one or less"] += one;
    if (job.gpu_types != ~std::uint64_t{0}) share["typed"] += one;
    if (job.home_rack.valid() || job.home_pod.valid()) share["home"] += one;
    if (job.groups > 1) share["servers"] += one;
    if (milli >= 32'000) large_gpus += static_cast<double>(milli);
  }
  EXPECT_NEAR(share["cpu"], 0.08, 0.01);
  EXPECT_NEAR(share["shares"], 0.17, 0.01);
  EXPECT_NEAR(share["one or less"], 0.53, 0.02);
  EXPECT_NEAR(share["typed"], 0.23, 0.02);
  EXPECT_NEAR(share["home"], 0.276, 0.02);
  EXPECT_GT(share["servers"], 0.002);
  EXPECT_GT(large_gpus / static_cast<double>(requested_milli(instance)), 0.4);
}

/// No generated job may be hopeless: each has a type with a machine for each of its shapes.
TEST(GenerateHetero, asks_only_for_what_a_machine_can_hold) {
  const auto instance = generate_hetero({.gpus = 16384});
  const auto& cluster = instance.cluster;
  for (const Job& job : instance.workload.jobs) {
    const bool possible = std::ranges::any_of(cluster.classes, [&](const auto& c) {
      const bool allowed = c.gpus == 0 || ((job.gpu_types >> c.gpu_type.index()) & 1) != 0;
      return allowed && std::ranges::all_of(instance.workload.groups_of(job), [&](const auto& g) {
               const model::Shape& s = instance.workload.shape(g.shape);
               return s.total_milli() <= 1000 * c.gpus && s.needs.within(c.capacity);
             });
    });
    EXPECT_TRUE(possible)
        << instance.workload.shape(instance.workload.groups_of(job)[0].shape).needs[model::kCpu];
  }
}

TEST(GenerateHetero, makes_an_empty_workload_when_asked) {
  EXPECT_TRUE(generate_hetero({.gpus = 8, .jobs = 0}).workload.jobs.empty());
}

TEST(GenerateHetero, refuses_absurd_options) {
  EXPECT_THROW(generate_hetero({.gpus = 0}), InputError);
  EXPECT_THROW(generate_hetero({.gpus = 17'000'000}), InputError);
  EXPECT_THROW(generate_hetero({.jobs = -2}), InputError);
  EXPECT_THROW(generate_hetero({.load = 0.0}), InputError);
  EXPECT_THROW(generate_hetero({.cpu_machines = 1.5}), InputError);
}

TEST(GenerateHetero, gives_nics_and_slices_when_asked_to) {
  const model::Instance plain = generate_hetero({.gpus = 2048, .cpu_machines = 0.1});
  const model::Instance with =
      generate_hetero({.gpus = 2048, .cpu_machines = 0.1, .nic_mbps = 1000, .gpu_slices = 7});
  ASSERT_EQ(with.workload.shapes.size(), plain.workload.shapes.size());
  std::int64_t asked = 0;
  for (std::size_t s = 0; s < with.workload.shapes.size(); ++s) {
    model::Shape shape = with.workload.shapes[s];
    EXPECT_LE(2 * shape.needs[model::kNic], 3 * shape.total_milli());
    asked += shape.needs[model::kNic] > 0 ? 1 : 0;
    shape.needs[model::kNic] = 0;
    EXPECT_EQ(shape, plain.workload.shapes[s]);
  }
  EXPECT_GT(asked, 10);
  for (std::size_t c = 0; c < with.cluster.classes.size(); ++c) {
    const model::MachineClass& cut = with.cluster.classes[c];
    EXPECT_EQ(cut.capacity[model::kNic], cut.gpus > 0 ? 1000 * cut.gpus : model::kNoLimit);
    EXPECT_EQ(cut.gpu_slices, cut.gpus > 0 ? 7 : 0);
    EXPECT_EQ(plain.cluster.classes[c].capacity[model::kNic], model::kNoLimit);
  }
  EXPECT_THROW(generate_hetero({.gpus = 8, .gpu_slices = 32}), InputError);
  EXPECT_THROW(generate_hetero({.gpus = 8, .nic_mbps = -1}), InputError);
}

}  // namespace
}  // namespace berth::generate
