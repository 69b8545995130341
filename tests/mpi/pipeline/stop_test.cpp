// SPDX-License-Identifier: Apache-2.0
// Wherever a limit cuts in: a feasible plan with a proved bound that says it was cut short. Limits
// are counted in questions here, so that every stage is met, and timed once.
#include "quick.hpp"
#include "with_petsc.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "berth/certify/check.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::pipeline {
namespace {

model::Plan plan_until(const model::Instance& instance, int shards, const StopSource& stop) {
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  PlanOptions options = test::quick_options();
  options.partition.shards = shards;
  return plan_cluster(comm::Communicator::world(), instance, options, silent, StopToken(stop));
}

/// On rank 0: what the judge finds in the plan's file text.
void expect_valid(const model::Instance& instance, const model::Plan& plan) {
  if (comm::Communicator::world().rank() != 0) return;
  const auto checked =
      certify::check(instance, io::parse_plan(io::plan_text(instance, plan), "plan.json"));
  EXPECT_TRUE(checked.valid()) << (checked.faults.empty() ? "" : checked.faults[0].text);
}

class Stopped : public berth::test::WithPetsc<> {
 protected:
  /// Cuts in after 0, 1, 4, 13, ... questions to one rank, until nothing is cut any more.
  static void cut_everywhere(const model::Instance& instance, int shards, int rank) {
    SCOPED_TRACE(testing::Message() << "rank " << rank);
    const auto world = comm::Communicator::world();
    const auto whole = plan_until(instance, shards, StopSource());
    EXPECT_TRUE(whole.reproducible);
    int cuts = 0;
    for (std::int64_t questions = 0;; questions = 3 * questions + 1) {
      SCOPED_TRACE(testing::Message() << "cut after " << questions << " questions");
      StopSource stop;
      if (world.rank() == rank) stop.stop_after_questions(questions);
      const auto plan = plan_until(instance, shards, stop);
      expect_valid(instance, plan);
      if (world.max(plan.reproducible ? 1 : 0) == 1) {
        EXPECT_EQ(plan.plan_digest, whole.plan_digest);
        break;
      }
      EXPECT_LE(plan.figures.objective, plan.figures.upper_bound);
      ++cuts;
    }
    EXPECT_GE(cuts, rank < shards ? 5 : 2);  // a rank without a shard asks in the consensus only
  }
};

TEST_F(Stopped, anywhere_in_the_dive_the_chains_and_the_rounds) {
  const auto instance = generate::generate_hetero({.gpus = 512, .seed = 5});
  for (int r = 0; r < comm::Communicator::world().size(); ++r) cut_everywhere(instance, 3, r);
}

TEST_F(Stopped, anywhere_in_the_pattern_relaxation) {
  cut_everywhere(generate::generate(generate::Preset::openb_like, {.gpus = 256, .seed = 5}), 2, 0);
}

/// Seconds for a patient second, the judge and a shared machine; the sanitizers' build is slow.
constexpr double kAllowed = test::kSanitized ? 20.0 : 2.5;

TEST_F(Stopped, soon_after_the_deadline) {
  const auto instance = generate::generate_hetero({.gpus = 16384, .seed = 5});
  for (const double seconds : {0.001, 0.05, 0.3, 1.0}) {
    SCOPED_TRACE(testing::Message() << seconds << " seconds");
    const auto began = StopSource::Clock::now();
    const StopSource stop(StopSource::in_seconds(seconds));
    const auto plan = plan_until(instance, 0, stop);
    const std::chrono::duration<double> took = StopSource::Clock::now() - began;
    EXPECT_LT(took.count(), seconds + kAllowed);
    expect_valid(instance, plan);
    if (comm::Communicator::world().rank() != 0) continue;
    EXPECT_GT(plan.figures.jobs_placed, 0);
  }
}

}  // namespace
}  // namespace berth::pipeline
