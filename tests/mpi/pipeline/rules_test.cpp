// SPDX-License-Identifier: Apache-2.0
// Under rules about machines: one plan on any ranks, which the judge accepts, and a run that ends
// early and is resumed gives the plan of one that was never stopped.
#include "planned.hpp"
#include "with_petsc.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "berth/certify/check.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::pipeline {
namespace {

using model::Level;
using model::PlacementRules;

/// Gangs with at most 2 tasks in a rack, or in 3 racks at least; jobs of 5 % alone on their
/// machines; jobs with labels a and b, and others that avoid one of them.
model::Instance ruled() {
  model::Instance instance = generate::generate_hetero({.gpus = 1024, .seed = 12});
  model::Workload& workload = instance.workload;
  constexpr std::int32_t kAny = PlacementRules::kAnyNumber;
  workload.rules = {{},
                    {.max_tasks = {kAny, 2, kAny}},
                    {.min_domains = {1, 3, 1}},
                    {.exclusive = true},
                    {.labels = {"a"}},
                    {.labels = {"b"}, .not_with = {"a"}},
                    {.max_tasks = {1, kAny, kAny}, .not_with = {"b"}}};
  model::link_rules(workload.rules);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    model::Job& job = workload.jobs[j];
    const auto row = static_cast<std::uint32_t>(j % 20);
    const bool gang = workload.tasks(job) > 1 && job.domain == Level::cluster;
    if (row < workload.rules.size() && (row >= 3 || gang)) job.rules = row;
    if (row == 6 && !gang) job.rules = 0;
    if (row == 2 && workload.tasks(job) < 3) job.rules = 0;
    if (row >= 7 && row < 10 && gang) job.rules = 1;
  }
  return instance;
}

class Ruled : public berth::test::WithPetsc<> {};

TEST_F(Ruled, one_valid_plan_on_any_ranks) {
  const model::Instance instance = ruled();
  const model::Plan plan = test::same_on_any_ranks(instance, 3);
  if (comm::Communicator::world().rank() != 0) return;
  const auto checked =
      certify::check(instance, io::parse_plan(io::plan_text(instance, plan), "plan.json"));
  EXPECT_TRUE(checked.valid()) << (checked.faults.empty() ? "" : checked.faults[0].text);
  std::vector<int> placed(instance.workload.rules.size(), 0);
  for (const model::JobPlacement& p : plan.placements) {
    ++placed[instance.workload.job(p.job).rules];
  }
  for (std::size_t row = 0; row < placed.size(); ++row) EXPECT_GT(placed[row], 0) << row;
}

TEST_F(Ruled, resumed_as_if_never_stopped) {
  const model::Instance instance = ruled();
  const auto world = comm::Communicator::world();
  std::int64_t id = ::getpid();
  world.broadcast_value(id);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("berth-ruled-" + std::to_string(id))).string();
  PlanOptions options = test::quick_options();
  options.partition.shards = 3;
  const model::Plan whole = test::plan_as_program(world, instance, options);
  PlanOptions until = options;
  until.rounds.rounds = 1;
  until.rounds.regroups = 0;
  until.checkpoint.file = path;
  test::plan_as_program(world, instance, until);
  PlanOptions rest = options;
  rest.checkpoint.resume = path;
  const model::Plan resumed = test::plan_as_program(world, instance, rest);
  EXPECT_EQ(resumed.plan_digest, whole.plan_digest);
  EXPECT_EQ(resumed.proof_digest, whole.proof_digest);
  world.barrier();
  if (world.rank() == 0) std::filesystem::remove(path);
}

}  // namespace
}  // namespace berth::pipeline
