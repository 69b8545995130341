// SPDX-License-Identifier: Apache-2.0
// Oracle: the same bound on one rank.
#include "berth/coordinator/dual_ranks.hpp"

#include "random_horizon.hpp"
#include "with_petsc.hpp"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "berth/parallel/threads.hpp"
#include "berth/solver/horizon_bound.hpp"

namespace berth::coordinator {
namespace {

class DualOnRanks : public berth::test::WithPetsc<> {
 protected:
  /// The bound on the ranks of `comm`, on rank 0; the others serve.
  static solver::HorizonBound bound_on(const comm::Communicator& comm,
                                       const horizon::Problem& problem) {
    solver::HorizonBound bound;
    comm.agreed([&] {
      if (comm.rank() != 0) return serve_dual(comm);
      RootOfDual ranks(comm);
      bound = solver::bound_horizon(
          problem, {.intervals = 6, .merge_tolerance = 0.0, .iterations = 4, .ranks = &ranks});
    });
    return bound;
  }
};

/// 700 jobs are three blocks.
horizon::Problem drawn(std::uint64_t seed, test::HorizonCost kind) {
  return test::random_horizon({.seed = seed,
                               .jobs = 700,
                               .longest = 40,
                               .span = 400,
                               .gpus = 4,
                               .dependencies = seed % 2 == 0},
                              kind);
}

TEST_F(DualOnRanks, gives_the_same_bits_on_any_number_of_ranks_and_threads) {
  const auto world = comm::Communicator::world();
  for (const auto kind : {test::HorizonCost::flow, test::HorizonCost::table}) {
    for (const std::uint64_t seed : {1, 2}) {
      const horizon::Problem problem = drawn(seed, kind);
      const parallel::ThreadLimit threads(1 + world.rank() % 2);
      const solver::HorizonBound together = bound_on(world, problem);
      if (world.rank() != 0) continue;
      const auto alone = bound_on(comm::Communicator::serial(), problem);
      EXPECT_EQ(together.ends, alone.ends);
      EXPECT_EQ(together.bound, alone.bound);
      EXPECT_EQ(together.evaluations, alone.evaluations);
      EXPECT_GT(alone.evaluations, 5);
    }
  }
}

TEST_F(DualOnRanks, an_evaluation_costs_a_broadcast_of_prices_and_a_reduction_of_sums) {
  const auto world = comm::Communicator::world().fresh();
  if (world.size() == 1) return;
  const horizon::Problem problem = drawn(1, test::HorizonCost::flow);
  const solver::HorizonBound bound = bound_on(world, problem);
  if (world.rank() != 0) return;
  std::int64_t reductions = 0;
  for (const comm::CallTraffic& call : world.stats_by_call()) {
    if (call.call == comm::Call::reduce) reductions = call.messages;
  }
  EXPECT_GE(reductions, bound.evaluations);  // and those of the first prices
}

TEST_F(DualOnRanks, a_failure_on_rank_0_ends_the_others) {
  const auto world = comm::Communicator::world();
  EXPECT_ANY_THROW(world.agreed([&] {
    if (world.rank() != 0) return serve_dual(world);
    const RootOfDual ranks(world);
    throw std::runtime_error("no plan");
  }));
}

}  // namespace
}  // namespace berth::coordinator
