// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/assert.hpp"
#include "berth/comm/communicator.hpp"

namespace berth::comm {
namespace {

TEST(Subset, holds_the_first_ranks_and_leaves_the_others_out) {
  const auto world = Communicator::world();
  for (const int ranks : {1, (world.size() + 1) / 2, world.size()}) {
    const auto some = world.first(ranks);
    EXPECT_EQ(some.has_value(), world.rank() < ranks);
    if (some) {
      EXPECT_EQ(some->size(), ranks);
      EXPECT_EQ(some->rank(), world.rank());
      EXPECT_EQ(some->sum(1), ranks);
      const Communicator copy = *some;  // lives on when the first is gone
      EXPECT_EQ(copy.all_gather(copy.rank()).back(), ranks - 1);
    }
    world.rest();
  }
  EXPECT_THROW((void)world.first(0), BrokenContract);
  EXPECT_THROW((void)world.first(world.size() + 1), BrokenContract);
}

TEST(Delays, change_times_and_nothing_else) {
  const auto world = Communicator::world();
  const auto slow = internal::with_delays(world, 7, std::chrono::microseconds(2000));
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::int64_t> sums;
  for (int i = 0; i < 10; ++i) sums.push_back(slow.sum(world.rank() + i));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t n = world.size();
    EXPECT_EQ(sums[static_cast<std::size_t>(i)], n * (n - 1) / 2 + n * i);
  }
  if (world.size() > 1) {
    EXPECT_GT(elapsed.count(), 0.002);
  }
}

}  // namespace
}  // namespace berth::comm
