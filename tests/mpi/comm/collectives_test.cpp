// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/comm/communicator.hpp"

namespace berth::comm {
namespace {

// What rank r contributes at position i; any rank can compute anybody's share.
std::int64_t share(int rank, std::size_t i) {
  return (rank + 1) * 1'000'003 - static_cast<std::int64_t>(i * i);
}

std::vector<std::int64_t> shares(int rank, std::size_t count) {
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = share(rank, i);
  return values;
}

// Whole, and cut so small that every message needs several pieces, the last one shorter.
std::vector<Communicator> worlds() {
  const auto world = Communicator::world();
  return {world, internal::with_chunk_limit(world, 24), internal::with_chunk_limit(world, 7)};
}

class Collectives : public testing::TestWithParam<std::size_t> {};

TEST_P(Collectives, broadcast_brings_the_roots_values) {
  for (const auto& world : worlds()) {
    for (int root = 0; root < world.size(); ++root) {
      auto values = shares(world.rank(), GetParam());
      world.broadcast<std::int64_t>(values, root);
      EXPECT_EQ(values, shares(root, GetParam()));
    }
  }
}

TEST_P(Collectives, sum_max_min_are_those_of_a_serial_loop) {
  for (const auto& world : worlds()) {
    auto sum = shares(world.rank(), GetParam()), max = sum, min = sum;
    world.sum(sum);
    world.max(max);
    world.min(min);
    for (std::size_t i = 0; i < GetParam(); ++i) {
      std::int64_t expected = 0;
      for (int r = 0; r < world.size(); ++r) expected += share(r, i);
      EXPECT_EQ(sum[i], expected);
      EXPECT_EQ(max[i], share(world.size() - 1, i));
      EXPECT_EQ(min[i], share(0, i));
    }
  }
}

TEST_P(Collectives, sum_to_root_leaves_the_others_alone) {
  for (const auto& world : worlds()) {
    const int root = world.size() - 1;
    auto values = shares(world.rank(), GetParam());
    world.sum_to_root(values, root);
    auto expected = shares(world.rank(), GetParam());
    if (world.rank() == root) {
      for (int r = 0; r < root; ++r) {
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += share(r, i);
      }
    }
    EXPECT_EQ(values, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, Collectives, testing::Values(0, 1, 3, 10));

TEST(Broadcast, vectors_and_strings_take_the_roots_length) {
  for (const auto& world : worlds()) {
    for (int root = 0; root < world.size(); ++root) {
      const auto own = static_cast<std::size_t>(world.rank());
      auto numbers = shares(world.rank(), own);
      std::string text(3 * own, static_cast<char>('a' + world.rank()));
      world.broadcast_vector(numbers, root);
      world.broadcast_string(text, root);
      EXPECT_EQ(numbers, shares(root, static_cast<std::size_t>(root)));
      EXPECT_EQ(text,
                std::string(3 * static_cast<std::size_t>(root), static_cast<char>('a' + root)));
    }
  }
}

TEST(Sum, is_exact_beyond_32_and_53_bits) {
  const auto world = Communicator::world();
  const std::int64_t big = (std::int64_t{1} << 58) + 1;
  EXPECT_EQ(world.sum(big), big * world.size());
  EXPECT_EQ(world.max(-big - world.rank()), -big);
  EXPECT_EQ(world.min(big + world.rank()), big);
}

TEST(MaxSeconds, is_the_slowest_ranks) {
  const auto world = Communicator::world();
  EXPECT_EQ(world.max_seconds(0.5 * world.rank()), 0.5 * (world.size() - 1));
}

TEST(Barrier, no_rank_leaves_before_all_have_come) {
  const auto world = Communicator::world();
  for (int i = 0; i < 10; ++i) world.barrier();
  EXPECT_EQ(world.sum(1), world.size());
}

TEST(Serial, works_beside_the_world_and_is_alone) {
  const auto serial = Communicator::serial();
  EXPECT_EQ(serial.size(), 1);
  EXPECT_EQ(serial.sum(Communicator::world().rank()), Communicator::world().rank());
}

}  // namespace
}  // namespace berth::comm
