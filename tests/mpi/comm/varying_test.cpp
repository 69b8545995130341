// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/comm/communicator.hpp"
#include "berth/comm/lists.hpp"

namespace berth::comm {
namespace {

// 12 bytes, so that pieces of other sizes cut through items.
struct Item {
  std::int32_t from, to, number;
  bool operator==(const Item&) const = default;
};

// How many items go from one rank to another in the three patterns; many pairs get none.
std::size_t amount(int pattern, int from, int to) {
  if (pattern == 0) return 0;
  if (pattern == 1) return static_cast<std::size_t>((from * 5 + to * 3) % 4);
  return from % 3 == 1 && to % 2 == 0 ? static_cast<std::size_t>(from + 40) : 0;  // skewed
}

void append(std::vector<Item>& items, int pattern, int from, int to) {
  for (std::size_t i = 0; i < amount(pattern, from, to); ++i) {
    items.push_back({from, to, static_cast<std::int32_t>(i)});
  }
}

std::vector<Communicator> worlds() {
  const auto world = Communicator::world();
  return {world, internal::with_chunk_limit(world, 200), internal::with_chunk_limit(world, 17)};
}

class Varying : public testing::TestWithParam<int> {};

TEST_P(Varying, gathers_are_end_to_end_by_rank) {
  for (const auto& world : worlds()) {
    const int root = world.size() / 2;
    std::vector<Item> mine, expected;
    append(mine, GetParam(), world.rank(), 0);
    for (int r = 0; r < world.size(); ++r) append(expected, GetParam(), r, 0);

    EXPECT_EQ(world.all_gather_varying<Item>(mine), expected);
    const auto at_root = world.gather_varying<Item>(mine, root);
    EXPECT_EQ(at_root, world.rank() == root ? expected : std::vector<Item>{});
  }
}

TEST_P(Varying, gathers_by_rank_keep_whose_is_what) {
  for (const auto& world : worlds()) {
    std::vector<Item> mine;
    append(mine, GetParam(), world.rank(), 0);
    const ByRank<Item> all = world.all_gather_by_rank<Item>(mine);
    const ByRank<Item> at_root = world.gather_by_rank<Item>(mine, 0);
    EXPECT_EQ(all.ranks(), world.size());
    EXPECT_EQ(at_root.ranks(), world.size());
    for (int r = 0; r < world.size(); ++r) {
      std::vector<Item> expected;
      append(expected, GetParam(), r, 0);
      EXPECT_EQ(std::vector<Item>(all[r].begin(), all[r].end()), expected);
      if (world.rank() != 0) expected.clear();
      EXPECT_EQ(std::vector<Item>(at_root[r].begin(), at_root[r].end()), expected);
    }
  }
}

TEST_P(Varying, all_to_all_delivers_by_source) {
  for (const auto& world : worlds()) {
    std::vector<Item> mine, expected;
    std::vector<std::size_t> counts;
    for (int r = 0; r < world.size(); ++r) {
      append(mine, GetParam(), world.rank(), r);
      counts.push_back(amount(GetParam(), world.rank(), r));
      append(expected, GetParam(), r, world.rank());
    }
    const ByRank<Item> received = world.all_to_all_varying<Item>(mine, counts);
    EXPECT_EQ(received.values, expected);
    EXPECT_EQ(received.ranks(), world.size());
    for (int r = 0; r < received.ranks(); ++r) {
      EXPECT_EQ(received[r].size(), amount(GetParam(), r, world.rank()));
    }
  }
}

TEST_P(Varying, lists_are_what_all_to_all_delivers) {
  for (const auto& world : worlds()) {
    std::vector<std::vector<Item>> lists(static_cast<std::size_t>(world.size()));
    std::vector<std::vector<Item>> expected = lists;
    for (int r = 0; r < world.size(); ++r) {
      append(lists[static_cast<std::size_t>(r)], GetParam(), world.rank(), r);
      append(expected[static_cast<std::size_t>(r)], GetParam(), r, world.rank());
    }
    const ByRank<Item> received = exchange_lists(world, std::move(lists));
    ASSERT_EQ(received.ranks(), world.size());
    for (int r = 0; r < world.size(); ++r) {
      const auto& from = expected[static_cast<std::size_t>(r)];
      EXPECT_EQ(std::vector<Item>(received[r].begin(), received[r].end()), from);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, Varying, testing::Values(0, 1, 2));

TEST(AllGather, one_value_each) {
  const auto world = Communicator::world();
  const auto all = world.all_gather(Item{world.rank(), 1, 2});
  EXPECT_EQ(all.size(), static_cast<std::size_t>(world.size()));
  for (int r = 0; r < world.size(); ++r) {
    EXPECT_EQ(all[static_cast<std::size_t>(r)], (Item{r, 1, 2}));
  }
}

}  // namespace
}  // namespace berth::comm
