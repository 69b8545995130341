// SPDX-License-Identifier: Apache-2.0
// No plan leaves a job of positive value waiting that fits beside the others as it is.
#include "petsc_environment.hpp"
#include "random_tiny.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/generate/generate.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/solver/make_room.hpp"

namespace berth {
namespace {

model::Plan plan_of(const model::Instance& instance, const pipeline::PlanOptions& options) {
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  return pipeline::plan_cluster(comm::Communicator::serial(), instance, options, silent);
}

/// The waiting jobs that would gain value in room that the plan leaves free.
std::vector<JobId> jobs_that_fit(const model::Instance& instance, model::Objective objective,
                                 const model::Plan& plan) {
  const planner_model::Valuation valuation(instance, objective);
  const planner_model::CouplingLimits limits(instance, objective);
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < instance.cluster.machines(); ++m) machines.emplace_back(m);
  solver::Occupancy occupancy(valuation, machines, &limits);
  for (std::size_t l = 0; l < limits.size(); ++l) {
    occupancy.limit_usage().allow(l, limits.capacity(l));
  }
  for (const model::JobPlacement& placed : plan.placements) occupancy.take(placed);
  std::vector<JobId> fit;
  for (const model::UnplacedJob& waiting : plan.waiting) {
    occupancy.admit(waiting.job);
    const auto found = solver::find_room(occupancy, waiting.job);
    if (!found) continue;
    const double lost = *occupancy.limit_usage().surcharge(waiting.job) +
                        occupancy.limit_usage().surcharge_of_place(*found);
    if (valuation.placed(*found) > lost + 1e-9) fit.push_back(waiting.job);
  }
  return fit;
}

/// Instances of the kinds of `random_tiny`, on one to three shards.
TEST(FreeRoomProperty, no_job_of_a_tiny_instance_waits_beside_room_for_it) {
  using Change = model::Instance (*)(test::Dice&, model::Instance);
  const std::vector<Change> changes = {
      [](test::Dice&, model::Instance instance) { return instance; }, test::with_more_limits,
      test::with_power_budgets, test::with_rules, test::with_spare};
  int waiting = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    test::Dice dice(seed);
    const auto objective = dice.chance(70) ? model::Objective::value : model::Objective::allocate;
    const model::Instance drawn = test::random_tiny(dice);
    const auto change = changes[static_cast<std::size_t>(dice.below(std::ssize(changes)))];
    const model::Instance instance = change(dice, drawn);
    pipeline::PlanOptions options;
    options.objective = objective;
    options.partition.shards = static_cast<std::int32_t>(1 + dice.below(3));
    options.exact.steps = 0;  // it would hide what the rounds leave free
    const model::Plan plan = plan_of(instance, options);
    waiting += static_cast<int>(plan.waiting.size());
    EXPECT_TRUE(jobs_that_fit(instance, objective, plan).empty())
        << "seed " << seed << ", " << options.partition.shards << " shards\n"
        << io::cluster_text(instance.cluster) << io::jobs_text(instance);
  }
  EXPECT_GT(waiting, 200);
}

/// Jobs that are placed one after the other: a search that passes over places without room for
/// equal tasks finds what one from the first place on finds.
TEST(FreeRoomProperty, a_search_that_remembers_finds_the_same_room) {
  int placed = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    test::Dice dice(seed);
    const model::Instance drawn = test::random_tiny(dice);
    const model::Instance instance = seed % 3 == 0   ? test::with_rules(dice, drawn)
                                     : seed % 3 == 1 ? test::with_more_limits(dice, drawn)
                                                     : drawn;
    const planner_model::Valuation valuation(instance, model::Objective::value);
    const planner_model::CouplingLimits limits(instance, model::Objective::value);
    std::vector<MachineId> machines;
    for (std::size_t m = 0; m < instance.cluster.machines(); ++m) machines.emplace_back(m);
    solver::Occupancy occupancy(valuation, machines, &limits);
    for (std::size_t l = 0; l < limits.size(); ++l) {
      occupancy.limit_usage().allow(l, limits.capacity(l));
    }
    solver::RoomSearch search(occupancy);
    const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
    occupancy.admit(jobs);
    for (const JobId job : jobs) {
      const auto expected = solver::find_room(occupancy, job);
      auto found = search.find(job);
      ASSERT_EQ(found.has_value(), expected.has_value()) << "seed " << seed;
      ++(found ? placed : without);
      if (!found) continue;
      EXPECT_EQ(found->tasks, expected->tasks) << "seed " << seed;
      occupancy.take(*std::move(found));
    }
  }
  EXPECT_GT(placed, 300);
  EXPECT_GT(without, 100);
}

/// Clusters whose plans by shards leave jobs waiting beside room, worth less than its price, or by
/// passes of effort.
TEST(FreeRoomProperty, no_job_of_a_preset_waits_beside_room_for_it) {
  struct Case {
    std::uint64_t seed;
    std::int32_t shards;
    int effort;
  };
  int waiting = 0;
  for (const auto& [seed, shards, effort] :
       {Case{1, 1, 1}, Case{3, 2, 1}, Case{3, 4, 2}, Case{5, 4, 1}}) {
    const auto instance = generate::generate_hetero({.gpus = 2048, .seed = seed});
    pipeline::PlanOptions options;
    options.partition.shards = shards;
    options.effort = effort;
    options.bound_steps = 0;  // of no interest here
    const model::Plan plan = plan_of(instance, options);
    waiting += static_cast<int>(plan.waiting.size());
    EXPECT_TRUE(jobs_that_fit(instance, options.objective, plan).empty())
        << "seed " << seed << ", " << shards << " shards";
  }
  EXPECT_GT(waiting, 100);
}

/// Two shards of a machine each: two jobs of value leave two GPUs on each, the gang needs four.
TEST(FreeRoomProperty, a_gang_uses_room_of_two_shards) {
  test::Tiny tiny;
  const ClassId eight = tiny.machine_class("eight", tiny.type("gpu"), 8, 64'000, 64'000);
  for (int pod = 0; pod < 2; ++pod) {
    tiny.pod();
    tiny.rack();
    tiny.machine(eight);
  }
  for (int job = 0; job < 2; ++job) tiny[tiny.job({{.gpus = 6}})].weight = 10.0;
  const JobId gang = tiny.job({{.count = 4, .gpus = 1}});
  pipeline::PlanOptions options;
  options.partition.shards = 2;
  options.exact.steps = 0;
  options.bound_steps = 0;
  options.rounds.regroups = 0;  // these search the cluster as one group
  const model::Plan plan = plan_of(tiny.instance, options);
  EXPECT_EQ(plan.placements.size(), 3);
  EXPECT_TRUE(std::ranges::binary_search(plan.placements, gang, {}, &model::JobPlacement::job));
}

}  // namespace
}  // namespace berth
