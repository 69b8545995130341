// SPDX-License-Identifier: Apache-2.0
// A rank that fails or dawdles somewhere in the searches: one error on all ranks, or the same plan.
// (Ranks that die are in tests/cli/ending_test.py.)
#include "quick.hpp"
#include "with_petsc.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/generate/generate.hpp"

namespace berth::pipeline {
namespace {

class Faults : public berth::test::WithPetsc<> {
 protected:
  [[nodiscard]] model::Plan plan(const StopSource& stop) const {
    report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
    PlanOptions options = test::quick_options();
    options.partition.shards = 4;
    return plan_cluster(world, instance, options, silent, StopToken(stop));
  }

  /// Questions that each rank is asked in a run that nothing disturbs.
  [[nodiscard]] std::vector<std::int64_t> questions() const {
    StopSource source;
    std::atomic<std::int64_t> asked = 0;
    source.watch([&](std::int64_t) { return ++asked, false; });
    static_cast<void>(plan(source));
    return world.all_gather(asked.load());
  }

  const comm::Communicator world = comm::Communicator::world();
  const model::Instance instance = generate::generate_hetero({.gpus = 512, .seed = 5});
};

TEST_F(Faults, of_one_rank_end_all_ranks_with_its_message) {
  const auto asked = questions();
  for (int victim = 0; victim < world.size(); ++victim) {
    const std::int64_t most = asked[static_cast<std::size_t>(victim)];
    ASSERT_GT(most, 100);
    for (const std::int64_t at : {most / 100, most / 4, most / 2, most - 2}) {
      SCOPED_TRACE(testing::Message()
                   << "rank " << victim << ", question " << at << " of " << most);
      StopSource source;
      if (world.rank() == victim) {
        source.watch([&](std::int64_t question) {
          if (question == at) throw std::runtime_error("injected");
          return false;
        });
      }
      try {
        static_cast<void>(plan(source));
        ADD_FAILURE() << "no error";
      } catch (const comm::AgreedError& error) {
        EXPECT_STREQ(error.what(), "injected");
        EXPECT_EQ(error.rank(), victim);
        EXPECT_EQ(error.exit_code(), ExitCode::internal_error);
      }
    }
  }
}

TEST_F(Faults, a_slow_rank_changes_nothing) {
  const auto usual = plan(StopSource());
  for (int victim = 0; victim < world.size(); ++victim) {
    SCOPED_TRACE(testing::Message() << "rank " << victim);
    StopSource source;
    if (world.rank() == victim) {
      source.watch([](std::int64_t question) {
        if (random_below(50, {static_cast<std::uint64_t>(question)}) == 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
      });
    }
    const auto delayed = plan(source);
    EXPECT_TRUE(delayed.reproducible);
    EXPECT_EQ(delayed.plan_digest, usual.plan_digest);
    EXPECT_EQ(delayed.proof_digest, usual.proof_digest);
  }
}

}  // namespace
}  // namespace berth::pipeline
