// SPDX-License-Identifier: Apache-2.0
// The promise: one plan, bit for bit, for any number of ranks and threads. Oracle: one rank.
#include <gtest/gtest.h>

#include "berth/parallel/threads.hpp"
#include "berth/pipeline/distribute.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/policy/generate.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::pipeline {
namespace {

model::Plan plan_on(const comm::Communicator& comm, const model::Instance& instance, int shards,
                    int threads) {
  const parallel::ThreadLimit limit(threads);
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  PlanOptions options;
  options.partition.shards = shards;
  return plan_cluster(comm, instance, options, silent);
}

TEST(PlanCluster, is_the_same_on_any_number_of_ranks_and_threads) {
  const solver::PetscSession petsc;
  const auto world = comm::Communicator::world();
  for (const std::uint64_t seed : {1, 2}) {
    const auto instance = policy::generate_hetero({.gpus = 512, .seed = seed});
    for (const int shards : {0, 4}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", shards " << shards);
      const auto together = plan_on(world, instance, shards, 1);
      const auto threaded = plan_on(world, instance, shards, 2);
      if (world.rank() != 0) continue;
      const auto alone = plan_on(comm::Communicator::serial(), instance, shards, 1);
      EXPECT_EQ(together.plan_digest, alone.plan_digest);
      EXPECT_EQ(together.proof_digest, alone.proof_digest);
      EXPECT_EQ(threaded.plan_digest, alone.plan_digest);
      EXPECT_GT(alone.figures.jobs_placed, 0);
      EXPECT_LT(alone.figures.gap, 0.25);  // 512 GPUs with gangs: the bound is weak here
    }
  }
}

TEST(Distribute, sends_every_field) {
  const auto world = comm::Communicator::world();
  const auto original = policy::generate_hetero({.gpus = 256, .seed = 3});
  model::Instance received;
  if (world.rank() == 0) received = original;
  distribute(world, received);
  EXPECT_EQ(model::instance_digest(received), model::instance_digest(original));
}

}  // namespace
}  // namespace berth::pipeline
