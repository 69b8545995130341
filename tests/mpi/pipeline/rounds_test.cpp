// SPDX-License-Identifier: Apache-2.0
// Every way to run the rounds gives a feasible plan, the same on all ranks as on one.
#include "quick.hpp"
#include "with_petsc.hpp"

#include <gtest/gtest.h>

#include "berth/certify/check.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::pipeline {
namespace {

constexpr int kGpus = test::kSanitized ? 512 : 1024;  // the sanitizers' build plans half as much

model::Plan plan_on(const comm::Communicator& comm, const model::Instance& instance,
                    const coordinator::RoundOptions& rounds) {
  PlanOptions options = test::quick_options();
  options.partition.shards = 5;
  options.seed = 3;
  options.rounds = rounds;
  return test::plan_as_program(comm, instance, options);
}

class Rounds : public berth::test::WithPetsc<> {
 protected:
  model::Plan expect_one_plan(const coordinator::RoundOptions& rounds) const {
    const auto world = comm::Communicator::world();
    auto together = plan_on(world, instance, rounds);
    if (world.rank() != 0) return together;
    const auto alone = plan_on(comm::Communicator::serial(), instance, rounds);
    EXPECT_EQ(together.plan_digest, alone.plan_digest);
    EXPECT_EQ(together.proof_digest, alone.proof_digest);
    EXPECT_GE(alone.stats.at("rounds"), 2.0);
    const auto checked =
        certify::check(instance, io::parse_plan(io::plan_text(instance, alone), "plan.json"));
    EXPECT_TRUE(checked.valid()) << (checked.faults.empty() ? "" : checked.faults[0].text);
    return together;
  }

  const model::Instance instance = generate::generate_hetero({.gpus = kGpus, .seed = 6});
};

TEST_F(Rounds, the_offers_of_largest_regret) {
  expect_one_plan({.offers = 4, .selection = {.rule = strads::SelectionRule::largest}});
}

TEST_F(Rounds, few_offers_in_all) { expect_one_plan({.blocks = 6}); }

TEST_F(Rounds, shards_in_turns) { expect_one_plan({.schedulers = 2}); }

/// Jobs on their way may be placed by their own shard meanwhile.
TEST_F(Rounds, bids_that_are_some_rounds_old) {
  for (const int depth : {1, 3}) {
    if (test::kSanitized && depth == 1) continue;  // slow there, the other ages bids more
    SCOPED_TRACE(depth);
    expect_one_plan({.depth = depth});
  }
}

TEST_F(Rounds, shards_asked_for_little) { expect_one_plan({.claim = 0.05}); }

TEST_F(Rounds, of_regrouping_alone) {
  const auto plan =
      expect_one_plan({.rounds = 0, .groups = {.gpus = kGpus / 4}, .least_regroup_gain = -1.0});
  if (comm::Communicator::world().rank() != 0) return;
  double gain = 0.0;
  for (const model::RoundRecord& r : plan.rounds) {
    EXPECT_EQ(r.kind, model::RoundKind::regroup);
    EXPECT_EQ(r.blocks, 4);                             // groups, of five shards
    EXPECT_GE(r.gain, -1e-9 * plan.figures.objective);  // values are summed in another order
    gain += r.gain;
  }
  EXPECT_EQ(plan.rounds.size(), 4u);
  EXPECT_GT(gain, 0.0);
}

TEST_F(Rounds, two_shards_asked_about_each_offer) { expect_one_plan({.bidders = 2}); }

}  // namespace
}  // namespace berth::pipeline
