// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include "berth/comm/communicator.hpp"

namespace berth::comm {
namespace {

TEST(Latency, two_hundred_sums_of_314_numbers_take_less_than_three_seconds) {
  const auto world = Communicator::world();
  constexpr int kSums = 200;
  world.barrier();
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t wrong = 0;
  for (int round = 0; round < kSums; ++round) {
    std::vector<std::int64_t> values(314, world.rank() + round);
    world.sum(values);
    const std::int64_t n = world.size();
    for (const std::int64_t value : values) wrong += value != n * (n - 1) / 2 + n * round;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const double slowest = world.max_seconds(seconds.count());
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(slowest, 3.0);
  if (world.rank() == 0) std::printf("%d sums: %.3f s\n", kSums, slowest);
}

}  // namespace
}  // namespace berth::comm
