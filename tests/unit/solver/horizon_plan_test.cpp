// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/horizon_plan.hpp"

#include "petsc_environment.hpp"
#include "random_horizon.hpp"
#include "sanitized.hpp"

#include <array>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/base/stop.hpp"
#include "berth/certify/horizon.hpp"
#include "berth/generate/horizon.hpp"
#include "berth/horizon/pool_timeline.hpp"
#include "berth/horizon/problem_builder.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/policy/backfill.hpp"

namespace berth::solver {
namespace {

using berth::horizon::Plan;
using berth::horizon::Problem;
using test::HorizonCost;

TEST(HorizonPlan, is_feasible_on_pools_and_on_machines_and_above_its_bound) {
  for (std::uint64_t seed = 1; seed <= (test::kSanitized ? 3 : 12); ++seed) {
    for (const HorizonCost kind : {HorizonCost::flow, HorizonCost::table}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", costs " << static_cast<int>(kind));
      const Problem problem = test::random_horizon(
          {.seed = seed, .jobs = 60, .longest = 30, .span = 50, .machines = 4, .gpus = 8}, kind);
      const HorizonBound bound = bound_horizon(problem, {.intervals = 16});
      const auto certificate = certificate_of(bound);
      const Plan pools = plan_on_pools(problem, bound, {.most_tries = 50});
      EXPECT_TRUE(certify::check_on_pools(problem, pools).empty());
      const Plan machines = plan_on_machines(problem, bound, pools, {.most_tries = 50});
      EXPECT_TRUE(certify::check_on_machines(problem, machines).empty());
      for (const Plan* plan : {&pools, &machines}) {
        const auto proof = certify::prove_horizon(problem, *plan, certificate);
        EXPECT_GE(proof.gap, 0.0);
        EXPECT_NEAR(proof.objective, cost_of(problem, *plan), 1e-6);
      }
    }
  }
}

TEST(HorizonPlan, goes_on_from_a_plan_and_is_never_dearer) {
  int gained = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Problem problem = test::random_horizon(
        {.seed = seed, .jobs = 40, .longest = 30, .span = 50, .machines = 4, .gpus = 8},
        HorizonCost::flow);
    const HorizonBound bound = bound_horizon(problem, {.intervals = 16});
    const Plan pools = plan_on_pools(problem, bound, {.most_tries = 20});
    Plan plan = plan_on_machines(problem, bound, pools, {.most_tries = 20});
    for (std::uint64_t pass = 1; pass <= 3; ++pass) {
      const double before = cost_of(problem, plan);
      plan = improve_on_machines(problem, bound, plan, {.most_tries = 100, .seed = pass});
      EXPECT_LE(cost_of(problem, plan), before);
      EXPECT_TRUE(certify::check_on_machines(problem, plan).empty());
      gained += cost_of(problem, plan) < before ? 1 : 0;
    }
  }
  EXPECT_GE(gained, 9);  // of 18
}

TEST(HorizonPlan, of_a_stopped_search_is_that_of_its_first_list) {
  const HorizonPlanOptions one_list{
      .machine_leads = {}, .shift_passes = 0, .reorderings = 0, .most_tries = 0};
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Problem problem = test::random_horizon(
        {.seed = seed, .jobs = 60, .longest = 30, .span = 50, .machines = 4, .gpus = 8},
        HorizonCost::flow);
    for (auto& job : problem.jobs) job.deadline = horizon::kNever;  // these have a second list
    const HorizonBound bound = bound_horizon(problem, {.intervals = 16});
    const Plan pools = plan_on_pools(problem, bound, {.most_tries = 20});
    StopSource source;
    source.stop_after_questions(0);
    const Plan stopped = plan_on_machines(problem, bound, pools, {}, StopToken(source));
    EXPECT_TRUE(certify::check_on_machines(problem, stopped).empty());
    EXPECT_EQ(cost_of(problem, stopped),
              cost_of(problem, plan_on_machines(problem, bound, pools, one_list)));
  }
}

/// Each pod is a pool, and all have the prices of their type: the earliest start is in whichever
/// has room first, and gangs that follow find all of them cut up.
TEST(HorizonPlan, chooses_among_equal_pools_by_rent) {
  if (test::kSanitized) GTEST_SKIP() << "20,000 jobs";
  const Problem problem =
      generate::generate_horizon(generate::HorizonPreset::big, {.jobs = 20'000});
  const HorizonBound bound = bound_horizon(problem);
  const HorizonPlanOptions options{
      .machine_leads = {0.2}, .shift_passes = 0, .reorderings = 0, .most_tries = 0};
  const Plan pools = plan_on_pools(problem, bound, options);
  const Plan machines = plan_on_machines(problem, bound, pools, options);
  EXPECT_LT(cost_of(problem, machines), 1.01 * cost_of(problem, pools));  // 1.003; else 1.025
}

TEST(HorizonPlan, is_the_same_on_any_number_of_threads) {
  const Problem problem = generate::generate_horizon(generate::HorizonPreset::huge, {.jobs = 300});
  const HorizonBound bound = bound_horizon(problem, {.intervals = 16});
  const auto starts = [&](int threads) {
    const parallel::ThreadLimit limit(threads);
    std::vector<horizon::Seconds> result;
    const Plan pools = plan_on_pools(problem, bound);
    for (const auto& start : plan_on_machines(problem, bound, pools).starts) {
      result.push_back(start.start);
    }
    return result;
  };
  EXPECT_EQ(starts(1), starts(3));
}

/// 64 GPUs, jobs worth w n when they end within the horizon; every tenth is longer than that.
Problem value_within(horizon::Seconds end) {
  horizon::ProblemBuilder builder;
  const auto pool = builder.add_pool_set(std::array{builder.add_pool(horizon::CurveId(0), 8, 8)});
  for (std::uint64_t j = 0; j < 250; ++j) {
    const auto tasks = static_cast<std::int32_t>(1 + random_below(2, {j, 0}));
    const auto gpus = static_cast<std::int32_t>(1U << random_below(4, {j, 1}));
    const auto shortest = static_cast<horizon::Seconds>(random_below(10'000, {j, 2}));
    const double worth = static_cast<double>(1 + random_below(4, {j, 3})) * tasks * gpus;
    (void)builder.add_job(0, false);
    builder.add_option(pool, j % 10 == 0 ? 2 * end : 300 + shortest,
                       std::array{horizon::TaskGroup{tasks, gpus}},
                       builder.add_cost(std::array{horizon::CostPiece{0, -worth, 0.0},
                                                   horizon::CostPiece{end, 0.0, 0.0}}));
  }
  return builder.build();
}

TEST(HorizonPlan, of_values_within_a_horizon_is_near_its_bound) {
  const Problem problem = value_within(30'000);
  const HorizonBound bound = bound_horizon(problem);
  const Plan pools = plan_on_pools(problem, bound, {.most_tries = 50});
  const Plan machines = plan_on_machines(problem, bound, pools, {.most_tries = 50});
  for (const Plan* plan : {&pools, &machines}) {
    const auto proof = certify::prove_horizon(problem, *plan, certificate_of(bound));
    EXPECT_GE(proof.gap, 0.0);
    EXPECT_LE(proof.gap, 0.03);
  }
}

TEST(HorizonPlan, beats_the_baselines_on_a_saturated_cluster) {
  const Problem problem =
      generate::generate_horizon(generate::HorizonPreset::huge, {.jobs = 3'000, .one_type = true});
  const HorizonBound bound = bound_horizon(problem, {.intervals = 24});
  const double cost = cost_of(problem, plan_on_pools(problem, bound));
  const auto baseline = [&](auto policy, const std::vector<JobId>& order) {
    horizon::PoolTimeline timeline(problem);
    return cost_of(problem, policy(problem, timeline, order));
  };
  const auto arrival = policy::arrival_order(problem);
  EXPECT_LT(cost, baseline(policy::fifo, arrival));
  EXPECT_LT(cost, baseline(policy::conservative_backfill, arrival));
  EXPECT_LT(cost,
            baseline(policy::cheapest_list, policy::weighted_shortest_first(problem, 1'000'000)));
}

}  // namespace
}  // namespace berth::solver
