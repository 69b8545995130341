// SPDX-License-Identifier: Apache-2.0
// The configuration LP on instances that are solved by hand.
#include "berth/solver/configuration_lp.hpp"

#include "instance_builder.hpp"
#include "petsc_environment.hpp"
#include "relax/contents_bind.hpp"
#include "relax/task_rows.hpp"

#include <map>
#include <numeric>

#include <gtest/gtest.h>

namespace berth::solver {
namespace {

/// An instance with `machines` machines of 8 GPUs in one rack.
test::InstanceBuilder cluster_of(int machines) {
  test::InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(machines, 0, 8);
  return plan;
}

JobCounts counted(const test::InstanceBuilder& plan, const planner_model::Valuation& value,
                  int bits = 53) {
  const JobGrouping grouping(value, bits);
  JobCounts jobs;
  for (const JobId job : plan.jobs) jobs.emplace_back(grouping(job), 1);
  merge_equal(jobs);
  return jobs;
}

std::vector<BinType> bins_of(const test::InstanceBuilder& plan) {
  const planner_model::Room room(plan.instance.cluster);
  return bin_types(plan.instance.cluster, room, plan.machines, 64);
}

ConfigurationSolution solved(const test::InstanceBuilder& plan,
                             const ConfigurationOptions& options = {}) {
  const auto value = plan.value();
  const std::vector<double> start{0.0, 1.0};
  return solve_configuration_lp(plan.instance, bins_of(plan), counted(plan, value),
                                {.gpu_price = start}, options);
}

void add(test::InstanceBuilder& plan, int jobs, const test::InstanceBuilder::Wanted& wanted) {
  for (int j = 0; j < jobs; ++j) plan.job(wanted);
}

/// The LP of gangs of two tasks of 6 GPUs on 4 machines, of which 2 fit, when each uses 12 units of
/// a limit.
ConfigurationSolution solved_with(const LimitSupply& limit) {
  auto plan = cluster_of(4);
  add(plan, 10, {.tasks = 2, .gpus = 6});
  const auto value = plan.value();
  JobCounts jobs = counted(plan, value);
  for (auto& [group, count] : jobs) {
    for (JobGroup::Option& option : group.options) option.loads = {{0, 12.0}};
  }
  const std::vector<double> start{0.0, 1.0};
  const std::vector<LimitSupply> limits{limit};
  return solve_configuration_lp(plan.instance, bins_of(plan), std::move(jobs),
                                {.gpu_price = start, .limits = limits});
}

TEST(ConfigurationLp, prices_limits_with_contents) {
  const auto tight = solved_with({.capacity = 18.0});
  EXPECT_NEAR(tight.value, 18.0, 1e-3);
  EXPECT_NEAR(tight.bound, 18.0, 1e-3);
  ASSERT_EQ(tight.limit_prices.size(), 1U);
  EXPECT_NEAR(tight.limit_prices[0], 1.0, 1e-3);
  const auto loose = solved_with({.capacity = 30.0});  // 24 are used
  EXPECT_NEAR(loose.bound, 24.0, 1e-3);
  EXPECT_NEAR(loose.limit_prices[0], 0.0, 1e-3);
  const auto soft = solved_with({.capacity = 18.0, .penalty = 0.25});
  EXPECT_NEAR(soft.bound, 24.0 - 6.0 * 0.25, 1e-3);
  EXPECT_NEAR(soft.limit_prices[0], 0.25, 1e-3);
  EXPECT_LE(soft.limit_prices[0], 0.25);
}

// A machine holds one task of 6 GPUs: 4 machines, 2 gangs of 12 GPUs.
TEST(ConfigurationLp, counts_what_machines_hold_of_the_tasks_of_gangs) {
  auto plan = cluster_of(4);
  add(plan, 10, {.tasks = 2, .gpus = 6});
  const auto solution = solved(plan);
  ASSERT_TRUE(solution.solved());
  EXPECT_NEAR(solution.value, 24.0, 1e-3);
  EXPECT_NEAR(solution.bound, 24.0, 1e-3);
  EXPECT_GE(solution.bound, 24.0);
  ASSERT_EQ(solution.prices.size(), 1U);
  EXPECT_NEAR(solution.prices.front().price, 6.0, 1e-3);
}

// All 5 GPUs of such a gang are on one machine, which holds one gang.
TEST(ConfigurationLp, places_gangs_of_one_machine_together) {
  auto plan = cluster_of(4);
  add(plan, 10, {.tasks = 5, .gpus = 1, .domain = model::Level::machine});
  const auto solution = solved(plan);
  EXPECT_NEAR(solution.bound, 20.0, 1e-3);
  ASSERT_EQ(solution.bundles.size(), 1U);
  EXPECT_EQ(solution.bundles.front().total.gpus, 5);
}

// The required job (0.6) leaves room for 2 of 8 GPUs.
TEST(ConfigurationLp, places_required_jobs_first) {
  auto plan = cluster_of(1);
  plan.job({.gpus = 6, .weight = 0.1, .required = true});
  add(plan, 3, {.gpus = 8});
  add(plan, 5, {.gpus = 2, .weight = 0.5});
  const auto solution = solved(plan);
  EXPECT_NEAR(solution.value, 1.6, 1e-3);
  EXPECT_NEAR(solution.bound, 1.6, 1e-3);
}

// CPU for 4 tasks, though GPUs for 8: the task's price is its part of the CPU, and so is the
// multiplier.
TEST(ConfigurationLp, counts_resources_beside_gpus) {
  test::InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(3, 0, 8, 4'000);
  add(plan, 40, {.tasks = 2, .gpus = 1, .cpu = 1'000});
  const auto solution = solved(plan);
  EXPECT_NEAR(solution.bound, 12.0, 1e-3);
  ASSERT_EQ(solution.multipliers.size(), 1U);
  EXPECT_NEAR(solution.multipliers.front().unit_price[model::kCpu], 1e-3, 1e-6);
}

/// With 700 shapes machines share what they have: the cheapest tasks by CPU, each worth 1, until 40
/// cores are full, the last one in part. That one sets the price of CPU.
TEST(ConfigurationLp, shares_resources_by_type_where_shapes_are_many) {
  test::InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(10, 0, 8, 4'000);
  for (int i = 0; i < 700; ++i) plan.job({.gpus = 1, .cpu = 1'000 + i});
  const auto solution = solved(plan);
  ASSERT_TRUE(solution.solved());
  EXPECT_TRUE(solution.configurations.empty());
  // 1,000 + .. + 1,038 = 39,741, and 259 / 1,039 of the next
  EXPECT_NEAR(solution.value, 39.0 + 259.0 / 1'039.0, 1e-3);
  ASSERT_EQ(solution.multipliers.size(), 1U);
  EXPECT_NEAR(solution.multipliers.front().unit_price[model::kCpu], 1.0 / 1'039.0, 1e-6);
  ASSERT_EQ(solution.prices.size(), 700U);
  EXPECT_NEAR(solution.prices.back().price, 1'699.0 / 1'039.0, 1e-3);
}

/// Two kinds of 350 shapes, 8 GPUs and 32 cores: x tasks of 2 cores and value 1, y of about 8 cores
/// and value 2, x + y = 8 and 2 x + 8 y = 32, so both prices are above 0.
TEST(ConfigurationLp, shares_gpus_and_cores_that_both_bind) {
  test::InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 8, 32'000);
  for (int i = 0; i < 350; ++i) plan.job({.gpus = 1, .cpu = 2'000 + i % 2});
  for (int i = 0; i < 350; ++i) plan.job({.gpus = 1, .cpu = 8'000 + i, .weight = 2.0});
  for (int i = 0; i < 600; ++i) plan.job({.gpus = 1, .cpu = 20'000 + i, .weight = 0.1});
  const auto solution = solved(plan);
  ASSERT_TRUE(solution.solved());
  EXPECT_NEAR(solution.value, 8.0 + 16.0 / 6.0, 0.01);
  ASSERT_EQ(solution.multipliers.size(), 1U);
  EXPECT_NEAR(solution.multipliers.front().unit_price[model::kCpu], 1.0 / 6'000.0, 1e-6);
}

TEST(ConfigurationLp, is_skipped_where_tasks_fill_the_gpus_in_any_mix) {
  auto plan = cluster_of(4);
  for (const int gpus : {1, 2, 4, 8}) add(plan, 10, {.tasks = 2, .gpus = gpus});
  EXPECT_FALSE(solved(plan).solved());
  plan.job({.tasks = 2, .gpus = 3});
  EXPECT_TRUE(solved(plan).solved());
}

/// True when contents bind at a price of 1 for a GPU.
bool binds(const test::InstanceBuilder& plan, double gpu_price = 1.0) {
  const auto value = plan.value();
  const std::vector<double> price{0.0, gpu_price};
  return contents_bind(bins_of(plan), counted(plan, value), plan.instance.workload.shapes,
                       {.gpu_price = price}, 1e-3, {});
}

// Jobs ask for 16 GPUs: in tasks of 3 and 1, which machines hold, or in tasks of 6.
TEST(ContentsBind, where_machines_hold_less_than_jobs_ask_for) {
  auto plan = cluster_of(2);
  add(plan, 4, {.gpus = 3, .weight = 1.5});
  add(plan, 2, {.tasks = 2, .gpus = 1, .weight = 1.5});
  EXPECT_FALSE(binds(plan));
  auto larger = cluster_of(2);
  add(larger, 3, {.gpus = 6, .weight = 1.5});
  EXPECT_TRUE(binds(larger));
}

// Two machines of 64 cores hold four tasks of 30: where five are asked for, GPUs are free.
TEST(ContentsBind, by_another_resource_where_gpus_are_free) {
  for (const int tasks : {4, 5}) {
    auto plan = cluster_of(2);
    add(plan, tasks, {.gpus = 1, .cpu = 30'000, .weight = 1.5});
    EXPECT_EQ(binds(plan, 0.0), tasks == 5) << tasks;
  }
}

// Jobs of 1 GPU may take either type alike; of those of 2 some are faster on B, of those of 4 one
// may only have B.
TEST(TaskRows, are_shared_by_gpu_types_with_equal_options) {
  test::InstanceBuilder plan({"A", "B"});
  plan.rack(plan.pod());
  plan.add_machines(2, 0, 8);
  plan.add_machines(2, 1, 8);
  add(plan, 3, {.gpus = 1, .weight = 2.0});
  plan.job({.gpus = 1, .weight = 3.0});
  plan.job({.gpus = 2});
  plan.job({.gpus = 2, .speed = {1.0, 2.0}});
  plan.job({.gpus = 4});
  plan.job({.gpus = 4, .types = 2});
  const auto value = plan.value();
  const TaskRows rows(plan.instance.workload.shapes, counted(plan, value), bins_of(plan), 3);
  EXPECT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows.row(ShapeId(0), 1), rows.row(ShapeId(0), 2));
  EXPECT_NE(rows.row(ShapeId(1), 1), rows.row(ShapeId(1), 2));
  EXPECT_NE(rows.row(ShapeId(2), 1), rows.row(ShapeId(2), 2));
}

// An option on machines that cannot hold its tasks neither counts nor disturbs the others.
TEST(ConfigurationLp, leaves_out_options_that_no_machine_holds) {
  test::InstanceBuilder plan({"A", "B"});
  plan.rack(plan.pod());
  plan.add_machines(2, 0, 8);
  plan.add_machines(9, 1, 4);
  add(plan, 10, {.tasks = 2, .gpus = 6});
  add(plan, 3, {.tasks = 2, .gpus = 3});
  const auto value = plan.value();
  const std::vector<double> start{0.0, 1.0, 1.0};
  const auto solution = solve_configuration_lp(plan.instance, bins_of(plan), counted(plan, value),
                                               {.gpu_price = start});
  EXPECT_NEAR(solution.bound, 12.0 + 18.0, 1e-2);
}

/// Checks that the weights satisfy every constraint up to `slack`.
void expect_feasible(const ConfigurationSolution& solution, const std::vector<BinType>& bins,
                     double slack) {
  std::map<std::pair<ShapeId, std::size_t>, double> held;
  std::vector<double> machines(bins.size(), 0.0), jobs(solution.jobs.size(), 0.0);
  for (const Configuration& c : solution.configurations) {
    const auto bin = static_cast<std::size_t>(c.bin);
    machines[bin] += c.machines;
    for (const auto& [bundle, count] : c.content) {
      for (const auto& t : solution.bundles[static_cast<std::size_t>(bundle)].tasks.groups) {
        held[{t.shape, bins[bin].slot}] += c.machines * count * t.count;
      }
    }
  }
  for (const OptionUse& use : solution.options) {
    const auto g = static_cast<std::size_t>(use.group);
    const JobGroup& group = solution.jobs[g].first;
    const auto& option = group.options[static_cast<std::size_t>(use.option)];
    jobs[g] += use.jobs;
    for (const auto& t : group.tasks.groups) {
      held[{t.shape, slot_of(option.type)}] -= use.jobs * t.count;
    }
  }
  for (const auto& [row, left] : held) EXPECT_GE(left, -slack);
  for (std::size_t b = 0; b < bins.size(); ++b) {
    EXPECT_LE(machines[b], static_cast<double>(bins[b].machines.size()) + slack);
  }
  for (std::size_t g = 0; g < jobs.size(); ++g) {
    EXPECT_LE(jobs[g], static_cast<double>(solution.jobs[g].second) + slack);
  }
}

TEST(ConfigurationLp, has_weights_that_satisfy_its_constraints) {
  auto plan = test::mixed_instance(1, 400);
  for (int j = 0; j < 60; ++j) plan.job({.tasks = 1 + j % 4, .gpus = 3 + 2 * (j % 2)});
  const auto value = plan.value();
  const auto bins = bins_of(plan);
  const std::vector<double> start{0.0, 1.0, 1.0};
  const auto solution =
      solve_configuration_lp(plan.instance, bins, counted(plan, value), {.gpu_price = start});
  ASSERT_TRUE(solution.solved());
  EXPECT_LE(solution.bound, solution.value * (1.0 + 2e-5));
  EXPECT_GE(solution.bound, solution.value * (1.0 - 2e-5));
  expect_feasible(solution, bins, 1e-2);
  const JobGrouping grouping(value, solution.value_bits);
  for (const JobId job : plan.jobs) {
    const JobGroup group = grouping(job);
    EXPECT_EQ(solution.find(group) >= 0, !group.options.empty());
  }
}

// With fewer options than jobs of unequal value, values are rounded; a job still finds its group.
TEST(ConfigurationLp, rounds_values_where_options_are_too_many) {
  auto plan = cluster_of(4);
  for (int j = 0; j < 50; ++j) plan.job({.tasks = 2, .gpus = 6, .weight = 1.0 + 1e-3 * j});
  const auto exact = solved(plan);
  const auto rounded = solved(plan, {.options = 10});
  EXPECT_EQ(exact.jobs.size(), 50U);
  EXPECT_LE(rounded.jobs.size(), 10U);
  EXPECT_NEAR(rounded.bound, exact.bound, 0.1 * exact.bound);
  const auto value = plan.value();
  const JobGrouping grouping(value, rounded.value_bits);
  for (const JobId job : plan.jobs) EXPECT_GE(rounded.find(grouping(job)), 0);
}

TEST(JobGrouping, merges_jobs_of_equal_tasks_and_values) {
  auto plan = cluster_of(1);
  add(plan, 3, {.tasks = 2, .gpus = 1});
  plan.job({.tasks = 2, .gpus = 1, .weight = 2.0});
  plan.job({.tasks = 3, .gpus = 1});
  plan.job({.tasks = 2, .gpus = 1, .required = true});
  const auto value = plan.value();
  EXPECT_EQ(counted(plan, value).size(), 4U);
}

// 16 GPUs need two machines, so the best value is that of a rack.
TEST(JobGrouping, values_a_gang_in_the_narrowest_domain_that_has_room) {
  auto plan = cluster_of(4);
  const JobId wide = plan.job({.tasks = 4, .gpus = 4, .spread = {1.0, 0.5, 0.5, 0.5}});
  const JobId narrow = plan.job({.tasks = 2, .gpus = 4, .spread = {1.0, 0.5, 0.5, 0.5}});
  const auto value = plan.value();
  const JobGrouping grouping(value);
  EXPECT_EQ(grouping(wide).options.front().value, 8.0);
  EXPECT_EQ(grouping(narrow).options.front().value, 8.0);
}

}  // namespace
}  // namespace berth::solver
