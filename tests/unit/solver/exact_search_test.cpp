// SPDX-License-Identifier: Apache-2.0
// The exact search against all plans, from no placement at all, and on instances by hand.
#include "berth/solver/exact_search.hpp"

#include "exhaustive.hpp"
#include "one_rack.hpp"
#include "random_tiny.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "berth/planner_model/limit_usage.hpp"

namespace berth::solver {
namespace {

struct ExactSearch : test::OneRack {
  model::Placement placement;
  ExactSearchResult search(const ExactSearchOptions& options = {}) {
    const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
    return search_exactly(valuation, nullptr, placement, options);
  }
  [[nodiscard]] double value() const {
    const planner_model::Valuation valuation(tiny.instance, model::Objective::value);
    double sum = 0.0;
    for (const model::JobPlacement& placed : placement) sum += valuation.placed(placed);
    return sum;
  }
};

TEST_F(ExactSearch, takes_two_gangs_of_three_machines_instead_of_one_of_four) {
  add_machines(6);
  for (const int machines : {3, 4, 3}) tiny.job({{.count = machines, .gpus = 8}});
  const ExactSearchResult result = search();
  EXPECT_TRUE(result.improved);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(value(), 48.0);
  EXPECT_FALSE(search().improved);  // nothing is better
}

TEST_F(ExactSearch, spreads_a_gang_so_that_others_fit) {
  add_machines(2);
  tiny.rack();
  add_machines(2);
  tiny.job({{.gpus = 4}});
  tiny.job({{.gpus = 5}});
  tiny.job({{.gpus = 1}});
  tiny[tiny.job({{.count = 3, .gpus = 8}})].domain = model::Level::rack;
  tiny[tiny.job({{.count = 2, .gpus = 3}})].domain = model::Level::rack;
  tiny.job({{.count = 2, .gpus = 8}});
  search();
  EXPECT_EQ(value(), 32.0);
}

TEST_F(ExactSearch, places_required_jobs_first) {
  add_machines(4);
  tiny[tiny.job({{.gpus = 8}})].required = true;
  tiny[JobId(0)].value = 0.0;
  tiny.job({{.count = 4, .gpus = 8}});
  tiny.job({{.count = 3, .gpus = 8}});
  search();
  EXPECT_EQ(value(), 24.0);
  ASSERT_EQ(placement.size(), 2U);
  EXPECT_EQ(placement.front().job, JobId(0));
}

TEST_F(ExactSearch, lets_cpu_decide) {
  add_machines(1);
  tiny[tiny.job({{.gpus = 2, .cpu_milli = 40'000}})].value = 4.0;
  tiny[tiny.job({{.count = 3, .gpus = 2, .cpu_milli = 24'000}})].value = 3.0;
  search();
  EXPECT_EQ(value(), 4.0);
}

TEST_F(ExactSearch, keeps_to_its_limits) {
  add_machines(6);
  tiny.job({{.count = 3, .gpus = 8}});
  EXPECT_FALSE(search({.gpus = 47, .few_jobs = 0}).improved);
  EXPECT_FALSE(search({.gpus = 6}).improved);
  EXPECT_FALSE(search({.jobs = 0}).improved);
  EXPECT_FALSE(search({.steps = 0}).improved);
  placement.clear();
  EXPECT_TRUE(search({.gpus = 24, .few_jobs = 1}).improved);  // few jobs, 48 GPUs
  placement.clear();
  EXPECT_TRUE(search({.gpus = 48, .jobs = 1, .steps = 1}).improved);
}

/// Objective of a placement, with the costs of soft quotas and of jobs that are stopped.
double objective_of(const planner_model::Valuation& valuation,
                    const planner_model::CouplingLimits& limits,
                    const model::Placement& placement) {
  planner_model::LimitUsage usage(valuation.instance(), &limits);
  for (std::size_t l = 0; l < usage.size(); ++l) usage.allow(l, limits.capacity(l));
  double value = -valuation.stop_costs();
  for (const model::JobPlacement& placed : placement) {
    value += valuation.placed(placed);
    usage.add(placed);
  }
  return value - usage.surcharges();
}

/// Where not all required jobs can be placed, there is no optimum to compare with.
TEST(ExactSearchOnRandomInstances, finds_the_optimum) {
  constexpr model::Objective kValue = model::Objective::value;
  int judged = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Dice dice(seed);
    const model::Instance instance = test::random_tiny(dice);
    const planner_model::Valuation valuation(instance, kValue);
    const planner_model::CouplingLimits limits(instance, kValue);
    model::Placement placement;
    const ExactSearchResult result = search_exactly(valuation, &limits, placement, {});
    const auto required = test::required_of(instance.workload).by_job;
    const auto best = test::best_plan(instance, kValue, required, 100'000);
    if (!best || !result.complete) continue;
    ++judged;
    EXPECT_NEAR(objective_of(valuation, limits, placement), best->value,
                1e-9 * (1.0 + std::abs(best->value)));
  }
  EXPECT_GT(judged, 140);
}

}  // namespace
}  // namespace berth::solver
