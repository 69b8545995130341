// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/horizon_bound.hpp"

#include "horizon/smoothed_dual.hpp"
#include "petsc_environment.hpp"
#include "random_horizon.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "berth/certify/horizon.hpp"
#include "berth/horizon/pool_timeline.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/policy/backfill.hpp"
#include "berth/solver/class_prices.hpp"
#include "berth/solver/horizon_plan.hpp"

namespace berth::solver {
namespace {

using berth::horizon::Problem;
using horizon_plan::EndPrices;
using horizon_plan::NearlyEqualJobs;
using horizon_plan::PriceGrid;
using horizon_plan::SmoothedDual;
using test::HorizonCost;

std::vector<NearlyEqualJobs> every_job(const Problem& problem) {
  std::vector<NearlyEqualJobs> classes;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) classes.push_back({JobId(j), 1});
  return classes;
}

EndPrices drawn_prices(std::size_t size, std::uint64_t seed) {
  EndPrices ends;
  for (std::size_t i = 0; i < size; ++i) ends.push_back(2.0 * random_unit({seed, i}));
  return ends;
}

TEST(SmoothedDual, has_the_gradient_of_finite_differences) {
  for (const HorizonCost kind : {HorizonCost::flow, HorizonCost::table}) {
    const Problem problem =
        test::random_horizon({.seed = 3, .jobs = 30, .longest = 40, .span = 100, .gpus = 4}, kind);
    const PriceGrid grid{0, 7, 20, 50, 120};
    const SmoothedDual dual(problem, grid, every_job(problem));
    EndPrices ends = drawn_prices(dual.unknowns(), 5);
    std::vector<double> gradient(ends.size()), unused(ends.size());
    (void)dual.evaluate(ends, 0.01, gradient);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      constexpr double kStep = 1e-5;
      const double at = ends[i];
      ends[i] = at + kStep;
      const double above = dual.evaluate(ends, 0.01, unused);
      ends[i] = at - kStep;
      const double below = dual.evaluate(ends, 0.01, unused);
      ends[i] = at;
      const double slope = (above - below) / (2.0 * kStep);
      EXPECT_NEAR(gradient[i], slope, 1e-3 * (1.0 + std::abs(slope))) << "unknown " << i;
    }
  }
}

TEST(SmoothedDual, has_equal_bits_on_any_number_of_threads) {
  const Problem problem = test::random_horizon(
      {.seed = 4, .jobs = 1500, .longest = 40, .span = 100, .gpus = 4}, HorizonCost::flow);
  const PriceGrid grid{0, 7, 20, 50, 120};
  const SmoothedDual dual(problem, grid, every_job(problem));
  const EndPrices ends = drawn_prices(dual.unknowns(), 6);
  std::vector<double> one(ends.size()), three(ends.size());
  const auto value = [&](int threads, std::vector<double>& gradient) {
    const parallel::ThreadLimit limit(threads);
    return dual.evaluate(ends, 0.001, gradient);
  };
  EXPECT_EQ(value(1, one), value(3, three));
  EXPECT_EQ(one, three);
}

TEST(SmoothedDual, approaches_the_exact_dual_from_below_the_bound) {
  const Problem problem =
      test::random_horizon({.seed = 8, .jobs = 50, .span = 60}, HorizonCost::flow);
  const PriceGrid grid{0, 5, 15, 40, 90};
  const SmoothedDual dual(problem, grid, every_job(problem));
  const EndPrices ends = drawn_prices(dual.unknowns(), 9);
  const double exact = exact_dual(problem, grid, ends);
  EXPECT_LE(-dual.evaluate(ends, 0.1, {}), exact);  // softmin <= min
  EXPECT_NEAR(-dual.evaluate(ends, 1e-9, {}), exact, 1e-4);
}

TEST(ClassPrices, take_few_evaluations_and_end_near_the_long_search) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Problem problem = test::random_horizon(
        {.seed = seed, .jobs = 120, .longest = 20'000'000, .span = 1, .gpus = 8},
        HorizonCost::flow);
    const HorizonBound quick = price_classes(problem, problem);
    const HorizonBound slow = bound_horizon(problem, {.intervals = 12});
    EXPECT_LE(quick.evaluations, 10);
    EXPECT_LE(quick.bound, quick.list_cost);
    EXPECT_GE(quick.bound, 0.87 * slow.bound);
  }
}

TEST(HorizonBound, is_below_the_exhaustive_optimum_and_proved_by_the_judge) {
  int tight = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const HorizonCost kind : {HorizonCost::flow, HorizonCost::table}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", costs " << static_cast<int>(kind));
      const Problem problem = test::random_horizon({.seed = seed, .jobs = 3}, kind);
      const double optimum = test::ExhaustiveHorizon(problem, 24).least_cost();
      const HorizonBound bound = bound_horizon(problem, {.intervals = 12});
      if (optimum > 1e200) continue;  // some job cannot run
      EXPECT_LE(bound.bound, optimum + 1e-6);
      tight += bound.bound >= optimum - 0.05 * std::abs(optimum) - 1e-6;
      horizon::PoolTimeline timeline(problem);
      const auto plan = policy::cheapest_list(problem, timeline, policy::arrival_order(problem));
      const auto proof = certify::prove_horizon(problem, plan, certificate_of(bound));
      // the judge minimises over whole seconds only, so its bound may be higher
      EXPECT_GE(proof.bound, bound.bound - 1e-6 * (1.0 + std::abs(bound.bound)));
      EXPECT_LE(proof.bound, optimum);
    }
  }
  EXPECT_GE(tight, 40);  // half of the cases: the bound is no empty promise
}

TEST(HorizonBound, shares_costs_along_dependencies_below_the_exhaustive_optimum) {
  int shared = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    for (const HorizonCost kind : {HorizonCost::flow, HorizonCost::table}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", costs " << static_cast<int>(kind));
      const Problem problem =
          test::random_horizon({.seed = seed, .jobs = 3, .dependencies = true}, kind);
      const double optimum = test::ExhaustiveHorizon(problem, 24).least_cost();
      if (optimum > 1e200) continue;  // some job cannot run
      const HorizonBound bound = bound_horizon(problem, {.intervals = 12});
      EXPECT_LE(bound.bound, optimum + 1e-6);
      shared += !bound.shares.empty();
      const horizon::Plan plan = plan_on_pools(problem, bound);
      const auto proof = certify::prove_horizon(problem, plan, certificate_of(bound));
      EXPECT_GE(proof.bound, bound.bound - 1e-6 * (1.0 + std::abs(bound.bound)));
      EXPECT_LE(proof.bound, optimum);
      EXPECT_GE(proof.objective, optimum - 1e-6);
    }
  }
  EXPECT_GE(shared, 5);
}

TEST(HorizonBound, proves_the_optimum_of_jobs_that_wait_for_lighter_ones) {
  // 4 GPUs, 40 pairs of 1 GPU and 100 s: a job of weight 1, then one of weight 9
  horizon::ProblemBuilder builder;
  const auto pools = builder.add_pool_set(std::array{builder.add_pool(horizon::CurveId(0), 4, 1)});
  for (int j = 0; j < 80; ++j) {
    const JobId job = builder.add_job(0);
    const auto cost = builder.add_cost(std::array{horizon::flow_cost(0, j % 2 == 0 ? 1.0 : 9.0)});
    builder.add_option(pools, 100, std::array{horizon::TaskGroup{1, 1}}, cost);
    if (j % 2 == 1) builder.add_dependency(job, JobId(j - 1));
  }
  const Problem problem = builder.build();
  const HorizonBound bound = bound_horizon(problem);
  double optimum = 0.0;  // pair by pair
  for (int batch = 0; batch < 10; ++batch) {
    optimum += 4.0 * (200.0 * batch + 100.0 + 9.0 * (200.0 * batch + 200.0));
  }
  EXPECT_LE(bound.bound, optimum);
  EXPECT_GE(bound.bound, 0.97 * optimum);
  EXPECT_NEAR(cost_of(problem, plan_on_pools(problem, bound)), optimum, 1e-6);
}

TEST(HorizonBound, proves_that_gangs_of_more_than_half_a_pool_run_one_by_one) {
  horizon::ProblemBuilder builder;
  const auto pools = builder.add_pool_set(std::array{builder.add_pool(horizon::CurveId(0), 10, 1)});
  builder.add_outage(MachineId(0), 300, 400);
  for (int j = 0; j < 20; ++j) {
    (void)builder.add_job(0);
    const auto cost = builder.add_cost(std::array{horizon::flow_cost(0, 1.0)});
    builder.add_option(pools, 100, std::array{horizon::TaskGroup{6, 1}}, cost);
  }
  const Problem problem = builder.build();
  const HorizonBound bound = bound_horizon(problem);
  const double optimum = 100.0 * 20 * 21 / 2;
  EXPECT_EQ(bound.sizes.size(), 1u);
  EXPECT_LE(bound.bound, optimum);
  EXPECT_GE(bound.bound, 0.97 * optimum);  // by GPUs 0.6
  const horizon::Plan plan = plan_on_pools(problem, bound);
  EXPECT_NEAR(cost_of(problem, plan), optimum, 1e-6);
  const auto proof = certify::prove_horizon(problem, plan, certificate_of(bound));
  EXPECT_GE(proof.bound, bound.bound - 1e-6 * optimum);
  EXPECT_LE(proof.bound, optimum);
}

/// Small jobs fill the holes at first, so that no constant price by size proves anything; later
/// four gangs of 8 run in 37 GPUs.
TEST(HorizonBound, prices_whole_multiples_when_only_gangs_are_left) {
  horizon::ProblemBuilder builder;
  const auto pools = builder.add_pool_set(std::array{builder.add_pool(horizon::CurveId(0), 37, 1)});
  for (int j = 0; j < 212; ++j) {
    const bool gang = j >= 200;
    (void)builder.add_job(0);
    const auto cost = builder.add_cost(std::array{horizon::flow_cost(0, gang ? 1.0 : 5.0)});
    builder.add_option(pools, gang ? 1000 : 400, std::array{horizon::TaskGroup{gang ? 8 : 1, 1}},
                       cost);
  }
  const Problem problem = builder.build();
  const HorizonBound bound = bound_horizon(problem);
  const HorizonBound by_gpus = bound_horizon(problem, {.large_gangs = false});
  ASSERT_FALSE(bound.proof.multiples.empty());
  EXPECT_GT(bound.bound, 1.001 * by_gpus.bound);
  const horizon::Plan plan = plan_on_pools(problem, bound);
  const auto proof = certify::prove_horizon(problem, plan, certificate_of(bound));
  EXPECT_NEAR(proof.bound, bound.bound, 1e-6 * bound.bound);
  EXPECT_LE(proof.bound, cost_of(problem, plan));
}

TEST(HorizonBound, proves_the_optimum_of_one_saturated_pool) {
  // 4 GPUs, 40 jobs of 1 GPU and 100 s: ten batches end at 100, 200, .. 1000
  horizon::ProblemBuilder builder;
  const auto pools = builder.add_pool_set(std::array{builder.add_pool(horizon::CurveId(0), 4, 1)});
  for (int j = 0; j < 40; ++j) {
    (void)builder.add_job(0);
    const auto cost = builder.add_cost(std::array{horizon::flow_cost(0, 1.0)});
    builder.add_option(pools, 100, std::array{horizon::TaskGroup{1, 1}}, cost);
  }
  const HorizonBound bound = bound_horizon(builder.build());
  const double optimum = 4.0 * (100 + 200 + 300 + 400 + 500 + 600 + 700 + 800 + 900 + 1000);
  EXPECT_LE(bound.bound, optimum);
  EXPECT_GE(bound.bound, 0.97 * optimum);
}

}  // namespace
}  // namespace berth::solver
