// SPDX-License-Identifier: Apache-2.0
// The whole line from instance to plan file, against all plans: no objective above the optimum,
// no bound below it, and every file accepted by the judge. How near the plans come is counted.
#include "exhaustive.hpp"
#include "petsc_environment.hpp"
#include "random_tiny.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include <gtest/gtest.h>

#include "berth/certify/check.hpp"
#include "berth/certify/figures.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth {
namespace {

constexpr std::int64_t kSteps = 100'000;  // of the exhaustive search
constexpr double kRounding = 1e-9;        // the search sums doubles

struct Totals {
  int judged = 0, given_up = 0;
  int best = 0;    ///< plans as good as the optimum
  int proved = 0;  ///< bounds that meet the optimum
  int missed = 0;  ///< a required job left out although a plan places all of them
  double plan = 0.0, optimum = 0.0, bound = 0.0;  ///< sums, each instance over its optimum
};

std::vector<bool> mask(const model::Instance& instance, const std::vector<JobId>& jobs) {
  std::vector<bool> in(instance.workload.jobs.size(), false);
  for (const JobId j : jobs) in[j.index()] = true;
  return in;
}

model::Plan plan_of(const model::Instance& instance, model::Objective kind, std::int32_t shards) {
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  pipeline::PlanOptions options;
  options.objective = kind;
  options.partition.shards = shards;
  return pipeline::plan_cluster(comm::Communicator::serial(), instance, options, silent);
}

void expect_accepted(const model::Instance& instance, const model::Plan& plan) {
  const auto checked =
      certify::check(instance, io::parse_plan(io::plan_text(instance, plan), "plan.json"));
  for (const certify::Fault& fault : checked.faults) {
    ADD_FAILURE() << certify::name(fault.kind) << ": " << fault.text;
  }
  EXPECT_EQ(checked.figures.objective, plan.figures.objective);
  EXPECT_EQ(checked.figures.upper_bound, plan.figures.upper_bound);
}

/// Regrets, idle capacity, what is left of limits and what another leaf proves are the gap, but for
/// rounding: of each job to 2^-scale, and of the bound to a whole number.
void expect_whole(const model::Plan& plan) {
  double sum = 0.0;
  for (const auto& r : plan.gap_parts.regret) {
    EXPECT_GE(r.amount, 0.0);
    EXPECT_GT(r.jobs, 0);
    sum += r.amount;
  }
  for (const auto& i : plan.gap_parts.idle) {
    EXPECT_GE(i.amount, 0.0);
    sum += i.amount;
  }
  for (const double amount : plan.gap_parts.limits) {
    EXPECT_GE(amount, 0.0);
    sum += amount;
  }
  EXPECT_GE(plan.gap_parts.whole_jobs, 0.0);
  EXPECT_GE(plan.gap_parts.leaves, 0.0);
  sum += plan.gap_parts.whole_jobs + plan.gap_parts.leaves;
  const double whole = plan.figures.upper_bound - plan.figures.objective;
  const double slack = kRounding * std::max(1.0, plan.figures.upper_bound);
  EXPECT_NEAR(sum + plan.gap_parts.rounding, whole, slack);
  EXPECT_LE(plan.gap_parts.rounding, slack);
  EXPECT_GT(plan.gap_parts.rounding, -1.0 - slack);
}

/// True when all required jobs could have been placed together.
bool placeable(const model::Instance& instance, model::Objective kind) {
  std::vector<bool> must;
  for (const model::Job& job : instance.workload.jobs) must.push_back(job.required);
  return test::best_plan(instance, kind, must, kSteps).has_value();
}

/// Drawn from the seed alone.
struct Drawn {
  model::Objective kind;
  std::int32_t shards;
  model::Instance instance;
};

constexpr std::uint64_t kMoreLimits = 50'000'000;  // seeds from here on: NICs and slices as well
constexpr std::uint64_t kPower = 90'000'000;       // from here on: power budgets instead
constexpr std::uint64_t kRules = 120'000'000;      // from here on: rules about machines instead
constexpr std::uint64_t kSpare = 150'000'000;      // from here on: spare GPUs instead
constexpr std::uint64_t kLicenses = 180'000'000;   // from here on: licenses instead

Drawn draw(std::uint64_t seed) {
  test::Dice dice(seed);
  const auto kind = dice.chance(70) ? model::Objective::value : model::Objective::allocate;
  const auto shards = static_cast<std::int32_t>(dice.below(4));
  model::Instance instance = test::random_tiny(dice);
  if (seed >= kLicenses) return {kind, shards, test::with_licenses(dice, std::move(instance))};
  if (seed >= kSpare) return {kind, shards, test::with_spare(dice, std::move(instance))};
  if (seed >= kRules) return {kind, shards, test::with_rules(dice, std::move(instance))};
  if (seed >= kPower) return {kind, shards, test::with_power_budgets(dice, std::move(instance))};
  if (seed >= kMoreLimits) instance = test::with_more_limits(dice, std::move(instance));
  return {kind, shards, std::move(instance)};
}

/// For `berth plan`, by hand.
void show(const Drawn& drawn) {
  std::printf(
      "--shards %d, %s\n%s%s", drawn.shards, std::string(model::to_string(drawn.kind)).c_str(),
      io::cluster_text(drawn.instance.cluster).c_str(), io::jobs_text(drawn.instance).c_str());
}

void judge(std::uint64_t seed, Totals& totals) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const auto [kind, shards, instance] = draw(seed);
  const model::Plan plan = plan_of(instance, kind, shards);
  expect_accepted(instance, plan);
  expect_whole(plan);
  if (!plan.required_missing.empty() && placeable(instance, kind)) ++totals.missed;
  const auto placed = certify::required_placed(instance, plan.placements);
  const auto best = test::best_plan(instance, kind, mask(instance, placed), kSteps);
  if (!best) {
    ++totals.given_up;
    return;
  }
  ++totals.judged;
  const double slack = kRounding * std::max(1.0, best->value);
  ASSERT_LE(plan.figures.objective, best->value + slack);
  ASSERT_GE(plan.figures.upper_bound, best->value - slack);
  if (plan.figures.objective >= best->value - slack) ++totals.best;
  if (plan.figures.upper_bound <= best->value * (1 + 1e-6) + slack) ++totals.proved;
  if (best->value <= 0.0) return;
  totals.optimum += 1.0;
  totals.plan += plan.figures.objective / best->value;
  totals.bound += plan.figures.upper_bound / best->value;
}

Totals judge_many(std::uint64_t first, int instances) {
  Totals totals;
  for (int i = 0; i < instances && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    try {
      judge(seed, totals);
    } catch (const std::exception& thrown) {
      ADD_FAILURE() << "seed " << seed << ": " << thrown.what();
    }
    if (testing::Test::HasFailure()) show(draw(seed));
  }
  std::printf(
      "judged %d (given up %d): optimal %d, bound met %d, mean plan %.4f, mean bound %.4f"
      " of the optimum, required missed %d\n",
      totals.judged, totals.given_up, totals.best, totals.proved, totals.plan / totals.optimum,
      totals.bound / totals.optimum, totals.missed);
  return totals;
}

TEST(PlannerProperty, lies_between_nothing_and_the_optimum) {
  const Totals totals = judge_many(1, 300);
  EXPECT_GT(totals.judged, 250);
  EXPECT_EQ(totals.best, totals.judged);
  EXPECT_EQ(totals.missed, 0);
}

TEST(PlannerProperty, lies_between_nothing_and_the_optimum_with_nics_and_slices) {
  const Totals totals = judge_many(kMoreLimits, 300);
  EXPECT_GT(totals.judged, 250);
  EXPECT_EQ(totals.best, totals.judged);
  EXPECT_EQ(totals.missed, 0);
}

TEST(PlannerProperty, lies_between_nothing_and_the_optimum_within_power_budgets) {
  const Totals totals = judge_many(kPower, 300);
  EXPECT_GT(totals.judged, 250);
  EXPECT_EQ(totals.best, totals.judged);
}

TEST(PlannerProperty, lies_between_nothing_and_the_optimum_under_rules) {
  const Totals totals = judge_many(kRules, 300);
  EXPECT_GT(totals.judged, 250);
  EXPECT_EQ(totals.best, totals.judged);
  EXPECT_EQ(totals.missed, 0);
}

TEST(PlannerProperty, lies_between_nothing_and_the_optimum_with_spare_gpus) {
  const Totals totals = judge_many(kSpare, 300);
  EXPECT_GT(totals.judged, 250);
  EXPECT_GE(totals.best, totals.judged - 3);
  EXPECT_EQ(totals.missed, 0);
}

TEST(PlannerProperty, lies_between_nothing_and_the_optimum_within_licenses) {
  const Totals totals = judge_many(kLicenses, 300);
  EXPECT_GT(totals.judged, 250);
  EXPECT_EQ(totals.best, totals.judged);
  EXPECT_EQ(totals.missed, 0);
}

TEST(PlannerPropertySlow, lies_between_nothing_and_the_optimum_on_many) {
  EXPECT_GT(judge_many(1'000'000, 10'000).judged, 9'000);
  EXPECT_GT(judge_many(kMoreLimits + 1'000'000, 10'000).judged, 9'000);
  EXPECT_GT(judge_many(kPower + 1'000'000, 10'000).judged, 9'000);
  EXPECT_GT(judge_many(kRules + 1'000'000, 10'000).judged, 9'000);
  EXPECT_GT(judge_many(kSpare + 1'000'000, 10'000).judged, 9'000);
  EXPECT_GT(judge_many(kLicenses + 1'000'000, 10'000).judged, 9'000);
}

}  // namespace
}  // namespace berth
