// SPDX-License-Identifier: Apache-2.0
// One plan for any number of ranks and threads, on workloads of other kinds. Oracle: one rank.
#include "planned.hpp"
#include "with_petsc.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/generate/generate.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::pipeline {
namespace {

class Presets : public berth::test::WithPetsc<> {};

TEST_F(Presets, gangs_with_homes_and_locality) {
  test::same_on_any_ranks(
      generate::generate(generate::Preset::philly_like, {.gpus = 2048, .seed = 1, .load = 1.1}), 4);
}

TEST_F(Presets, gangs_larger_than_a_shard) {
  const auto plan = test::same_on_any_ranks(
      generate::generate(generate::Preset::llm_like, {.gpus = 4096, .seed = 2, .load = 1.3}), 16);
  if (comm::Communicator::world().rank() != 0) return;
  EXPECT_GT(plan.stats.at("spanning_gangs"), 0);
}

TEST_F(Presets, shares_and_cpu_only_jobs) {
  test::same_on_any_ranks(
      generate::generate(generate::Preset::openb_like, {.gpus = 512, .seed = 3, .load = 1.2}), 3,
      model::Objective::allocate);
}

/// Gangs are placed one by one, and shares beside them must not be: CPUs decide which shares fit
/// beside which.
TEST_F(Presets, shares_beside_gangs) {
  auto instance =
      generate::generate(generate::Preset::openb_like, {.gpus = 512, .seed = 3, .load = 1.2});
  std::string jobs = io::jobs_text(instance);
  for (const char* id : {"gang-1", "gang-2"}) {
    jobs += fmt::format(R"({{"id":"{}","value":40,"tasks":[{{"count":4,"gpus":8}}]}})"
                        "\n",
                        id);
  }
  instance.workload = io::parse_jobs(jobs, "jobs", instance.cluster);
  const auto plan = test::same_on_any_ranks(instance, 3);
  if (comm::Communicator::world().rank() != 0) return;
  EXPECT_LT(plan.figures.upper_bound - plan.figures.objective, 0.005 * plan.figures.upper_bound);
}

/// The bound then is that of patterns of single tasks: prices of GPUs alone know no CPUs, and the
/// packing with gangs has one job type for many values.
TEST_F(Presets, shares_of_many_values_beside_gangs) {
  auto instance =
      generate::generate(generate::Preset::openb_like, {.gpus = 512, .seed = 3, .load = 1.2});
  std::string jobs = io::jobs_text(instance);
  for (const char* id : {"gang-1", "gang-2", "gang-3", "gang-4"}) {
    jobs += fmt::format(R"({{"id":"{}","value":40,"tasks":[{{"count":4,"gpus":8}}]}})"
                        "\n",
                        id);
  }
  instance.workload = io::parse_jobs(jobs, "jobs", instance.cluster);
  for (std::size_t j = 0; j < instance.workload.size(); ++j) {
    instance.workload.jobs[j].weight *= 0.5 + 0.1 * static_cast<double>(j * 7 % 16);
  }
  PlanOptions options;
  options.bound_steps = 0;  // prices of jobs would prove as much here
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  const auto plan = plan_cluster(comm::Communicator::serial(), instance, options, silent);
  EXPECT_FALSE(plan.certificate.shapes.empty());
  EXPECT_LT(plan.figures.upper_bound - plan.figures.objective, 0.002 * plan.figures.upper_bound);
}

TEST_F(Presets, everything_at_once_in_more_shards_than_pods) {
  test::same_on_any_ranks(
      generate::generate(generate::Preset::hetero,
                         {.gpus = 2048, .seed = 4, .load = 1.5, .cpu_machines = 0.2}),
      7);
}

}  // namespace
}  // namespace berth::pipeline
