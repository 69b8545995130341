// SPDX-License-Identifier: Apache-2.0
#include "berth/base/random.hpp"

#include <array>
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace berth {
namespace {

// First outputs of SplitMix64 started at 0 and at its increment, as its authors publish them.
TEST(Mix64, is_splitmix64) {
  EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(mix64(0x9E3779B97F4A7C15ULL), 0x6E789E6AA1B965F4ULL);
}

TEST(RandomBits, depend_on_every_part_of_the_key_and_their_order) {
  const std::set<std::uint64_t> draws{random_bits({1, 2, 3}), random_bits({1, 3, 2}),
                                      random_bits({2, 2, 3}), random_bits({1, 2, 4}),
                                      random_bits({1, 2}),    random_bits({1, 2, 3, 0}),
                                      random_bits({0}),       random_bits({0, 0})};
  EXPECT_EQ(draws.size(), 8U);
  EXPECT_EQ(random_bits({7, 8}), random_bits({7, 8}));
}

TEST(RandomUnit, fills_the_unit_interval_evenly) {
  constexpr std::uint64_t kDraws = 20'000;
  std::array<int, 10> tenths{};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double unit = random_unit({42, i});
    ASSERT_GE(unit, 0.0);
    ASSERT_LT(unit, 1.0);
    ++tenths[static_cast<std::size_t>(unit * 10)];
  }
  for (const int count : tenths) EXPECT_NEAR(count, 2000, 250);  // about 6 standard deviations
}

TEST(RandomBelow, reaches_every_value_and_no_more) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 200; ++i) seen.insert(random_below(5, {i}));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(random_below(1, {9}), 0U);
}

}  // namespace
}  // namespace berth
