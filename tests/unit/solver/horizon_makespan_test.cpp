// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/horizon_makespan.hpp"

#include "petsc_environment.hpp"
#include "random_horizon.hpp"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "berth/certify/horizon.hpp"
#include "berth/horizon/pool_timeline.hpp"

namespace berth::solver {
namespace {

using horizon::PoolTimeline;
using horizon::Problem;
using horizon::Seconds;

/// The least last completion, by enumeration: the least `end` for which deadlines at `end` leave a
/// plan.
Seconds exhaustive_makespan(const Problem& problem, Seconds latest) {
  for (Seconds end = 1; end < latest; ++end) {
    Problem until = problem;
    for (auto& job : until.jobs) job.deadline = std::min(job.deadline, end);
    if (test::ExhaustiveHorizon(until, latest).least_cost() < 1e200) return end;
  }
  return latest;
}

TEST(MakespanBound, is_below_the_exhaustive_optimum_and_proved_by_the_judge) {
  int tight = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Problem problem =
        test::random_horizon({.seed = seed, .jobs = 3}, test::HorizonCost::flow);
    const Seconds optimum = exhaustive_makespan(problem, 24);
    if (optimum == 24) continue;  // some job cannot run
    PoolTimeline timeline(problem);
    const Seconds upper = makespan_of(problem, longest_first(problem, timeline));
    EXPECT_GE(upper, optimum);
    const MakespanBound bound = bound_makespan(problem, upper);
    EXPECT_LE(bound.bound, optimum);
    tight += bound.bound == optimum ? 1 : 0;
    EXPECT_TRUE(certify::refutes_makespan(problem, bound.bound - 1, bound.refutation));
    EXPECT_FALSE(certify::refutes_makespan(problem, optimum, bound.refutation));
  }
  EXPECT_GE(tight, 12);
}

TEST(MakespanBound, counts_the_work_of_all_jobs) {
  // 30 jobs of 2 GPUs and 10 s on 4 GPUs: 150 s
  horizon::ProblemBuilder builder;
  const auto pools = builder.add_pool_set(std::array{builder.add_pool(horizon::CurveId(0), 1, 4)});
  for (int j = 0; j < 30; ++j) {
    (void)builder.add_job(0);
    const auto cost = builder.add_cost(std::array{horizon::flow_cost(0, 1.0)});
    builder.add_option(pools, 10, std::array{horizon::TaskGroup{1, 2}}, cost);
  }
  const Problem problem = builder.build();
  PoolTimeline timeline(problem);
  const Seconds upper = makespan_of(problem, longest_first(problem, timeline));
  EXPECT_EQ(upper, 150);
  EXPECT_GE(bound_makespan(problem, upper).bound, 149);
}

}  // namespace
}  // namespace berth::solver
