// SPDX-License-Identifier: Apache-2.0
// The promise: one plan, bit for bit, for any number of ranks and threads. Oracle: one rank.
#include "planned.hpp"

#include <chrono>
#include <memory>

#include <gtest/gtest.h>

#include "berth/pipeline/distribute.hpp"
#include "berth/policy/generate.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::pipeline {
namespace {

/// One PETSc session for all tests of the program: TAO cannot be started twice.
class PlanCluster : public testing::Test {
 protected:
  static void SetUpTestSuite() { petsc = std::make_unique<solver::PetscSession>(); }
  static void TearDownTestSuite() { petsc.reset(); }
  static inline std::unique_ptr<solver::PetscSession> petsc;
};

TEST_F(PlanCluster, is_the_same_on_any_number_of_ranks_and_threads) {
  for (const std::uint64_t seed : {1, 2}) {
    const auto instance = policy::generate_hetero({.gpus = 512, .seed = seed});
    for (const int shards : {0, 4}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", shards " << shards);
      const auto plan = test::same_on_any_ranks(instance, shards);
      if (comm::Communicator::world().rank() != 0) continue;
      EXPECT_GT(plan.figures.jobs_placed, 0);
      EXPECT_LT(plan.figures.gap, 0.25);  // 512 GPUs with gangs: the bound is weak here
    }
  }
}

TEST_F(PlanCluster, is_the_same_when_ranks_come_late) {
  const auto world = comm::Communicator::world();
  const auto instance = policy::generate_hetero({.gpus = 512, .seed = 1});
  const auto alone = test::plan_on(comm::Communicator::serial(), instance, 4, 1);
  for (const std::uint64_t seed : {1, 2}) {
    const auto late = comm::internal::with_delays(world, seed, std::chrono::microseconds(400));
    const auto plan = test::plan_on(late, instance, 4, 2);
    if (world.rank() == 0) test::expect_same(plan, alone);
  }
}

TEST(Distribute, sends_every_field_but_the_names_only_rank_0_needs) {
  const auto world = comm::Communicator::world();
  const auto original = policy::generate_hetero({.gpus = 256, .seed = 3});
  model::Instance received;
  if (world.rank() == 0) received = original;
  distribute(world, received);
  if (world.rank() != 0) {
    EXPECT_EQ(received.workload.job_names.size() + received.cluster.machine_names.size(), 0U);
    received.workload.job_names = original.workload.job_names;
    received.cluster.machine_names = original.cluster.machine_names;
  }
  EXPECT_EQ(model::instance_digest(received), model::instance_digest(original));
}

}  // namespace
}  // namespace berth::pipeline
