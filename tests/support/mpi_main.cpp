// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "berth/comm/communicator.hpp"
#include "berth/comm/environment.hpp"

namespace {

/// Rank 0 prints as usual; the other ranks print failures only, one line a failure.
class FailuresOnly : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}

  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (!part.failed()) return;
    const std::string line = "[rank " + std::to_string(rank_) + "] " +
                             (part.file_name() != nullptr ? part.file_name() : "?") + ":" +
                             std::to_string(part.line_number()) + ": " + part.message() + "\n";
    std::fputs(line.c_str(), stderr);
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  const berth::comm::Environment environment;
  testing::InitGoogleTest(&argc, argv);
  testing::GTEST_FLAG(shuffle) = false;  // every rank runs the same tests in the same order
  const auto world = berth::comm::Communicator::world();
  if (world.rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(world.rank()));
  }
  return static_cast<int>(world.max(std::int64_t{RUN_ALL_TESTS()}));
}
