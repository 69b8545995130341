// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "berth/comm/communicator.hpp"

namespace berth::comm {
namespace {

struct Outcome {
  int exit_code = 0;
  int rank = -1;
  std::string message;
};

template <class Work>
Outcome outcome_of(const Communicator& world, Work work) {
  try {
    world.agreed(work);
  } catch (const AgreedError& error) {
    return {static_cast<int>(error.exit_code()), error.rank(), error.what()};
  }
  return {};
}

TEST(Agree, all_well_throws_nowhere_and_keeps_the_result) {
  const auto world = Communicator::world();
  EXPECT_NO_THROW(world.agree(std::nullopt));
  EXPECT_EQ(world.agreed([&] { return std::string("rank ") + std::to_string(world.rank()); }),
            "rank " + std::to_string(world.rank()));
}

TEST(Agree, one_rank_throws_then_all_throw_the_same) {
  const auto world = Communicator::world();
  for (int failing = 0; failing < world.size(); ++failing) {
    const Outcome outcome = outcome_of(world, [&] {
      if (world.rank() == failing) {
        throw InputError({"jobs.jsonl", 12, "tasks[0].gpus"}, "is negative", "use 0 or more");
      }
    });
    EXPECT_EQ(outcome.message, "jobs.jsonl:12: tasks[0].gpus: is negative; use 0 or more");
    EXPECT_EQ(outcome.exit_code, static_cast<int>(ExitCode::bad_input));
    EXPECT_EQ(outcome.rank, failing);
  }
}

TEST(Agree, the_lowest_failing_rank_is_heard) {
  const auto world = Communicator::world();
  const int first = world.size() / 2;
  const Outcome outcome = outcome_of(world, [&] {
    if (world.rank() >= first) throw std::runtime_error("rank " + std::to_string(world.rank()));
  });
  EXPECT_EQ(outcome.message, "rank " + std::to_string(first));
  EXPECT_EQ(outcome.exit_code, static_cast<int>(ExitCode::internal_error));
}

TEST(Agree, an_agreed_error_keeps_its_code_when_agreed_upon_again) {
  const auto world = Communicator::world();
  const Outcome outcome = outcome_of(world, [&] {
    const bool last = world.rank() == world.size() - 1;
    world.agree(last ? Status({ExitCode::required_missing, "job a is missing"}) : std::nullopt);
  });
  EXPECT_EQ(outcome.message, "job a is missing");
  EXPECT_EQ(outcome.exit_code, static_cast<int>(ExitCode::required_missing));
}

TEST(Agree, ranks_stay_in_step_after_a_failure) {
  const auto world = Communicator::world();
  EXPECT_THROW(world.agree(Status({ExitCode::bad_input, ""})), AgreedError);
  EXPECT_EQ(world.sum(1), world.size());
}

}  // namespace
}  // namespace berth::comm
