// SPDX-License-Identifier: Apache-2.0
// The nested knapsack against all choices of items, and its bound at prices.
#include "nested_knapsack.hpp"

#include "random_tiny.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace berth::certify {
namespace {

struct Drawn {
  std::vector<CapacityNode> nodes;
  std::vector<ChoiceItem> items;

  [[nodiscard]] Int128 path_price(std::int32_t node) const {
    Int128 sum = 0;
    for (; node >= 0; node = at(node).parent) sum += at(node).price;
    return sum;
  }
  [[nodiscard]] const CapacityNode& at(std::int32_t node) const {
    return nodes[static_cast<std::size_t>(node)];
  }
};

Drawn draw(test::Dice& dice) {
  Drawn drawn;
  const std::int64_t unit = dice.one_of({1, 250, 1000, 8000});
  const auto count = static_cast<std::int32_t>(dice.one_of({1, 2, 4}));
  for (std::int32_t n = 0; n < count; ++n) {
    CapacityNode node{.parent = n == 0 ? -1 : static_cast<std::int32_t>(dice.below(n)),
                      .capacity = unit * dice.below(13) + dice.one_of({0, 0, 1}),
                      .price = dice.one_of({0, 1, 5})};
    if (dice.chance(25)) node.penalty = 1000 * node.price + dice.one_of({0, 700, 9000});
    drawn.nodes.push_back(node);
  }
  const std::int64_t items = dice.below(9);
  for (std::int64_t i = 0; i < items; ++i) {
    ChoiceItem item{.net = 0,
                    .milli = unit * (1 + dice.below(4)),
                    .node = static_cast<std::int32_t>(dice.below(count)),
                    .must = dice.chance(10)};
    item.net =
        item.milli * dice.below(8) + dice.below(9) - drawn.path_price(item.node) * item.milli;
    drawn.items.push_back(item);
  }
  return drawn;
}

/// The best of all choices; nothing when those that must be chosen exceed a capacity.
std::optional<Int128> best_choice(const Drawn& drawn) {
  std::optional<Int128> best;
  for (std::size_t chosen = 0; chosen < std::size_t{1} << drawn.items.size(); ++chosen) {
    std::vector<std::int64_t> used(drawn.nodes.size(), 0);
    Int128 value = 0;
    bool allowed = true;
    for (std::size_t i = 0; i < drawn.items.size(); ++i) {
      const ChoiceItem& item = drawn.items[i];
      const bool taken = (chosen >> i & 1) != 0;
      allowed = allowed && (taken || !item.must);
      if (!taken) continue;
      value += item.net + drawn.path_price(item.node) * item.milli;
      for (std::int32_t n = item.node; n >= 0; n = drawn.at(n).parent) {
        used[static_cast<std::size_t>(n)] += item.milli;
      }
    }
    for (std::size_t n = 0; n < drawn.nodes.size(); ++n) {
      const std::int64_t beyond = used[n] - drawn.nodes[n].capacity;
      if (beyond <= 0) continue;
      allowed = allowed && drawn.nodes[n].penalty;
      if (allowed) value -= *drawn.nodes[n].penalty * beyond / 1000;
    }
    if (allowed && (!best || value > *best)) best = value;
  }
  return best;
}

Int128 at_prices(const Drawn& drawn) {
  Int128 bound = 0;
  for (const CapacityNode& node : drawn.nodes) bound += node.price * node.capacity;
  for (const ChoiceItem& item : drawn.items) {
    bound += item.must ? item.net : std::max<Int128>(0, item.net);
  }
  return bound;
}

/// Rounding of penalties: less than one unit a thousandth beyond the capacities.
constexpr Int128 rounding(const Drawn& drawn) {
  Int128 milli = 1;
  for (const ChoiceItem& item : drawn.items) milli += item.milli;
  return milli * static_cast<std::int64_t>(drawn.nodes.size());
}

class NestedKnapsack : public testing::TestWithParam<KnapsackWork> {};

TEST_P(NestedKnapsack, LiesBetweenTheBestChoiceAndTheBoundAtPrices) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    test::Dice dice(seed);
    const Drawn drawn = draw(dice);
    const std::optional<Int128> best = best_choice(drawn);
    if (!best) continue;
    const Int128 bound = nested_knapsack_bound(drawn.nodes, drawn.items, GetParam());
    EXPECT_GE(bound, *best);
    EXPECT_LE(bound, at_prices(drawn) + rounding(drawn));
    if (GetParam().exact > 0) {
      EXPECT_LE(bound, *best + rounding(drawn));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Work, NestedKnapsack,
                         testing::Values(KnapsackWork{}, KnapsackWork{0, 8'000'000},
                                         KnapsackWork{0, 60}, KnapsackWork{0, 0}));

/// Shares count in units of their gcd, so 3 of 400 thousandths fill one GPU beside nothing else.
TEST(NestedKnapsackExamples, SharesDoNotFillAQuota) {
  const CapacityNode nodes[] = {{.capacity = 8000}, {.parent = 0, .capacity = 1000}};
  const ChoiceItem items[] = {{40, 400, 1}, {40, 400, 1}, {40, 400, 1}};
  EXPECT_TRUE(nested_knapsack_bound(nodes, items) == 80);
}

/// Three gangs of 6 GPUs in 16: two are chosen; at any price 16 / 6 of them.
TEST(NestedKnapsackExamples, LargeGangsAreWholeBesideDivisibleJobs) {
  const CapacityNode nodes[] = {{.capacity = 16000, .price = 10}};
  const ChoiceItem items[] = {{0, 6000, 0}, {0, 6000, 0}, {0, 6000, 0}, {-9000, 1000, 0}};
  EXPECT_TRUE(nested_knapsack_bound(nodes, items) == 121'000);
  EXPECT_TRUE(nested_knapsack_bound(nodes, items, {0, 300}) == 124'000 ||
              nested_knapsack_bound(nodes, items, {0, 300}) == 121'000);
  EXPECT_TRUE(nested_knapsack_bound(nodes, items, {0, 0}) == 160'000);
}

}  // namespace
}  // namespace berth::certify
