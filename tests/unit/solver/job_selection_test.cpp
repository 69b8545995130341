// SPDX-License-Identifier: Apache-2.0
// The selection of whole jobs within nested capacities against all selections.
#include "berth/solver/job_selection.hpp"

#include "random_tiny.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace berth::solver {
namespace {

constexpr double kRounding = 1e-6;

struct Drawn {
  std::vector<SelectionNode> nodes;
  std::vector<SelectionItem> items;
};

Drawn draw(test::Dice& dice) {
  Drawn drawn;
  const std::int64_t unit = dice.one_of({1, 250, 1000, 8000});
  const auto count = static_cast<std::int32_t>(dice.one_of({1, 2, 4}));
  for (std::int32_t n = 0; n < count; ++n) {
    SelectionNode node{.parent = n == 0 ? -1 : static_cast<std::int32_t>(dice.below(n)),
                       .capacity = unit * (1 + dice.below(13))};
    if (n > 0 && dice.chance(25)) node.penalty = static_cast<double>(dice.one_of({0, 2, 5}));
    drawn.nodes.push_back(node);
  }
  const std::int64_t items = dice.below(9);
  for (std::int64_t i = 0; i < items; ++i) {
    const std::int64_t milli = unit * (1 + dice.below(4));
    drawn.items.push_back({.profit = static_cast<double>(milli * dice.below(8) + dice.below(9)),
                           .milli = milli,
                           .node = static_cast<std::int32_t>(dice.below(count))});
  }
  return drawn;
}

/// Profit of a selection less penalties; minus infinity when it exceeds a capacity.
double value_of(const Drawn& drawn, const std::vector<std::uint8_t>& selected) {
  std::vector<std::int64_t> used(drawn.nodes.size(), 0);
  double value = 0.0;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    if (selected[i] == 0) continue;
    value += drawn.items[i].profit;
    for (std::int32_t n = drawn.items[i].node; n >= 0;
         n = drawn.nodes[static_cast<std::size_t>(n)].parent) {
      used[static_cast<std::size_t>(n)] += drawn.items[i].milli;
    }
  }
  for (std::size_t n = 0; n < used.size(); ++n) {
    const std::int64_t beyond = used[n] - drawn.nodes[n].capacity;
    if (beyond > 0) value -= drawn.nodes[n].penalty * static_cast<double>(beyond);
  }
  return value;
}

double best_value(const Drawn& drawn) {
  double best = 0.0;
  for (std::size_t set = 0; set < std::size_t{1} << drawn.items.size(); ++set) {
    std::vector<std::uint8_t> selected;
    for (std::size_t i = 0; i < drawn.items.size(); ++i) selected.push_back(set >> i & 1);
    best = std::max(best, value_of(drawn, selected));
  }
  return best;
}

TEST(JobSelection, SelectsTheBestJobs) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    test::Dice dice(seed);
    const Drawn drawn = draw(dice);
    const JobSelection found = select_jobs(drawn.nodes, drawn.items);
    EXPECT_NEAR(found.bound, best_value(drawn), kRounding);
    EXPECT_NEAR(value_of(drawn, found.selected), found.bound, kRounding);
  }
}

/// With prices in place of tables the bound holds, and nothing exceeds a capacity of its own.
TEST(JobSelection, PricesBoundTheBestJobs) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    test::Dice dice(seed);
    const Drawn drawn = draw(dice);
    for (const std::int64_t cells : {0, 40}) {
      const JobSelection found = select_jobs(drawn.nodes, drawn.items, cells);
      EXPECT_GE(found.bound, best_value(drawn) - kRounding);
      for (std::size_t n = 0; n < drawn.nodes.size(); ++n) {
        EXPECT_GE(found.prices[n], 0.0);
        EXPECT_LE(found.prices[n], drawn.nodes[n].penalty + kRounding);
      }
      EXPECT_LE(value_of(drawn, found.selected), found.bound + kRounding);
    }
  }
}

/// A quota of 30 GPUs holds 16 + 8 + 4 + 2, not 30 / 16 of the densest gangs.
TEST(JobSelection, FillsAQuotaWithWholeGangs) {
  const SelectionNode nodes[] = {{.capacity = 64'000}, {.parent = 0, .capacity = 30'000}};
  const SelectionItem items[] = {
      {16.0, 16'000, 1}, {16.0, 16'000, 1}, {7.0, 8'000, 1}, {3.0, 4'000, 1}, {1.0, 2'000, 1}};
  const JobSelection found = select_jobs(nodes, items);
  EXPECT_DOUBLE_EQ(found.bound, 27.0);
  EXPECT_EQ(std::ranges::count(found.selected, 1), 4);
}

}  // namespace
}  // namespace berth::solver
