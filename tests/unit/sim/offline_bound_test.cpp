// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/offline_bound.hpp"

#include "with_petsc.hpp"

#include "berth/certify/horizon.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::test {
namespace {

class OfflineBound : public WithPetsc<> {};

struct Row {
  horizon::Seconds release;
  std::int32_t gpus;
  horizon::Seconds duration;
};

horizon::Problem problem_of(const std::vector<Row>& rows, std::int32_t gpus) {
  horizon::ProblemBuilder builder;
  const PoolId pool = builder.add_pool(horizon::CurveId(0), 1, gpus);
  const auto set = builder.add_pool_set(std::span(&pool, 1));
  for (const Row& row : rows) {
    builder.add_job(row.release);
    const horizon::CostPiece cost = horizon::flow_cost(row.release, 1.0);
    const horizon::TaskGroup tasks{.tasks = row.gpus, .gpus = 1};
    builder.add_option(set, row.duration, std::span(&tasks, 1),
                       builder.add_cost(std::span(&cost, 1)));
  }
  return builder.build();
}

TEST_F(OfflineBound, holds_for_the_best_preemptive_schedule) {
  // least remaining time first is optimal on one GPU: the job of 100 s is stopped for that of 10 s
  // (10 + 110), while without a stop 10 s wait until 100 (100 + 100) or the long one until 15
  const horizon::Problem problem = problem_of({{0, 1, 100}, {5, 1, 10}}, 1);
  const auto prices = solver::bound_horizon(problem);
  const double any = sim::preemptive_bound(problem, prices);
  EXPECT_LE(any, 120.0);
  EXPECT_GE(any, 112.0);
}

TEST_F(OfflineBound, is_near_the_optimum_of_a_queue) {
  // 20 jobs of 10 s on one GPU from second 0: 10 + 20 + ... + 200 = 2100
  const horizon::Problem problem = problem_of(std::vector<Row>(20, Row{0, 1, 10}), 1);
  const auto prices = solver::bound_horizon(problem);
  const double any = sim::preemptive_bound(problem, prices);
  EXPECT_LE(any, 2100.0 * (1 + 1e-9));
  EXPECT_GE(any, 0.9 * 2100.0);
}

}  // namespace
}  // namespace berth::test
