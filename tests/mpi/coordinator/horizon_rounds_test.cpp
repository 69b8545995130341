// SPDX-License-Identifier: Apache-2.0
// Oracle: the same plan in shards on one rank.
#include "berth/coordinator/horizon_rounds.hpp"

#include "timed_plan_text.hpp"
#include "with_petsc.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "berth/coordinator/dual_ranks.hpp"
#include "berth/generate/horizon.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::coordinator {
namespace {

class RoundsOnRanks : public berth::test::WithPetsc<> {
 protected:
  /// State after two rounds on the ranks of `comm`, on rank 0; the others serve.
  static std::string planned_on(const comm::Communicator& comm, const horizon::Problem& problem,
                                const solver::HorizonBound& bound) {
    std::string state;
    comm.agreed([&] {
      if (comm.rank() != 0) return serve_dual(comm);
      RootOfDual ranks(comm);
      HorizonRounds rounds(problem, bound, 5, nullptr, &ranks, {});
      rounds.plan();
      for (int round = 1; round <= 2; ++round) (void)rounds.step(round);
      state = test::text_of(rounds.state().plan);
    });
    return state;
  }
};

TEST_F(RoundsOnRanks, give_the_same_plan_on_any_number_of_ranks_and_threads) {
  const auto world = comm::Communicator::world();
  const horizon::Problem problem =
      generate::generate_horizon(generate::HorizonPreset::huge, {.jobs = 250});
  solver::HorizonBound bound;
  if (world.rank() == 0) bound = solver::bound_horizon(problem, {.intervals = 8, .iterations = 5});
  const parallel::ThreadLimit threads(1 + world.rank() % 2);
  const std::string together = planned_on(world, problem, bound);
  if (world.rank() != 0) return;
  for (const int count : {1, 3}) {
    const parallel::ThreadLimit limit(count);
    EXPECT_TRUE(planned_on(comm::Communicator::serial(), problem, bound) == together);
  }
}

TEST_F(RoundsOnRanks, name_what_failed_on_the_rank_of_a_shard) {
  const auto world = comm::Communicator::world();
  if (world.size() == 1) return;
  std::string text;
  const auto plan = [&] {
    world.agreed([&] {
      if (world.rank() != 0) return serve_dual(world);
      RootOfDual ranks(world);
      try {  // a shard that was never begun
        const std::vector<int> rank_of_shard{1};
        (void)ranks.ask({{.shard = ShardId(0), .bytes = std::string(1, '\4')}}, rank_of_shard);
      } catch (const std::exception& error) {
        text = error.what();
        throw;
      }
    });
  };
  EXPECT_ANY_THROW(plan());
  if (world.rank() == 0) {
    EXPECT_NE(text.find("map::at"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace berth::coordinator
