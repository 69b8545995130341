// SPDX-License-Identifier: Apache-2.0
// Oracle: std::stable_sort.
#include "berth/parallel/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::parallel {
namespace {

struct Entry {
  std::uint64_t key;
  std::uint32_t id;
  bool operator==(const Entry&) const = default;
};

std::vector<Entry> entries(std::size_t count, std::uint64_t keys, std::uint64_t seed) {
  std::vector<Entry> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = {random_below(keys, {seed, i}), static_cast<std::uint32_t>(i)};
  }
  return all;
}

class Sort : public testing::TestWithParam<int> {
 protected:
  ThreadLimit limit_{GetParam()};
};

// Keys only: with 3 different keys nearly all are ties, which must stay in their order.
TEST_P(Sort, is_the_stable_sort) {
  const auto less = [](const Entry& a, const Entry& b) { return a.key < b.key; };
  for (const std::size_t count : {0, 1, 100, 8192, 8193, 16384, 24576, 70'000}) {
    for (const std::uint64_t keys : {1ULL, 3ULL, 1ULL << 60}) {
      auto expected = entries(count, keys, 5), sorted = expected;
      std::stable_sort(expected.begin(), expected.end(), less);
      sort(sorted, less);
      EXPECT_EQ(sorted, expected) << count << " entries, " << keys << " keys";
    }
  }
}

TEST_P(Sort, takes_runs_that_are_sorted_or_reversed) {
  std::vector<int> expected(50'000);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int>(i);
  auto sorted = expected, reversed = expected;
  std::reverse(reversed.begin(), reversed.end());
  sort(sorted);
  sort(reversed);
  EXPECT_EQ(sorted, expected);
  EXPECT_EQ(reversed, expected);
}

TEST_P(Sort, moves_what_cannot_be_copied) {
  std::vector<std::unique_ptr<int>> boxes;
  for (int i = 0; i < 20'000; ++i) boxes.push_back(std::make_unique<int>((i * 7919) % 20'000));
  sort(boxes, [](const auto& a, const auto& b) { return *a < *b; });
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(*boxes[static_cast<std::size_t>(i)], i);
}

INSTANTIATE_TEST_SUITE_P(Threads, Sort, testing::Values(1, 2, 4));

}  // namespace
}  // namespace berth::parallel
