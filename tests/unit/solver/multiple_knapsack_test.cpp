// SPDX-License-Identifier: Apache-2.0
#include "bounding/multiple_knapsack.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::solver::bounding {
namespace {

/// What a choice is worth; -1 when some place holds too much.
double value_of(const MultipleKnapsack& problem, const std::vector<std::int32_t>& place) {
  std::vector<std::int32_t> left;
  for (const auto& p : problem.places) left.push_back(p.capacity);
  double value = 0.0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (place[i] < 0) continue;
    const double own = problem.values[i][static_cast<std::size_t>(place[i])];
    if (!(own > 0.0)) return -1.0;
    value += own;
    for (std::int32_t p = place[i]; p >= 0; p = problem.places[static_cast<std::size_t>(p)].above) {
      left[static_cast<std::size_t>(p)] -= problem.sizes[i];
      if (left[static_cast<std::size_t>(p)] < 0) return -1.0;
    }
  }
  return value;
}

/// The most that any choice is worth: all are tried.
double most(const MultipleKnapsack& problem) {
  std::vector<std::int32_t> place(problem.sizes.size(), -1);
  const auto places = static_cast<std::int32_t>(problem.places.size());
  double best = 0.0;
  for (;;) {
    best = std::max(best, value_of(problem, place));
    std::size_t i = 0;
    while (i < place.size() && ++place[i] == places) place[i++] = -1;
    if (i == place.size()) return best;
  }
}

/// Two types, the first with two pods, of which one has two racks; equal places and equal items in
/// every third instance.
MultipleKnapsack random_problem(std::uint64_t seed) {
  const auto draw = [&](std::uint64_t what, std::uint64_t which, std::int32_t from,
                        std::int32_t to) {
    const double unit = random_unit({seed, what, which});
    return from + static_cast<std::int32_t>(unit * (to - from + 1));
  };
  const bool equal = seed % 3 == 0;
  MultipleKnapsack problem;
  const std::int32_t rack = draw(1, 0, 2, 5);
  const std::int32_t pod = equal ? 2 * rack : draw(1, 1, 4, 9);
  problem.places = {{-1, 2 * pod},
                    {0, pod},
                    {0, pod},
                    {1, rack},
                    {1, rack},
                    {-1, rack},
                    {-1, equal ? rack : draw(1, 2, 1, 6)}};
  for (std::uint64_t i = 0; i < 5; ++i) {
    problem.sizes.push_back(draw(2, equal ? i / 2 : i, 1, 6));
    auto& values = problem.values.emplace_back();
    for (std::size_t p = 0; p < problem.places.size(); ++p) {
      const double width = p == 0 ? 0.7 : p == 1 || p == 2 ? 0.9 : 1.0;
      const double base = problem.sizes.back() * (1.0 + 0.1 * draw(3, equal ? i / 2 : i, 0, 9));
      values.push_back(draw(4, equal ? 0 : 10 * i + p, 0, 4) == 0 && !equal ? 0.0 : width * base);
    }
  }
  return problem;
}

TEST(MultipleKnapsack, IsTheBestOfAllChoices) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const MultipleKnapsack problem = random_problem(seed);
    const MultipleKnapsackResult found = solve(problem);
    const double best = most(problem);
    EXPECT_NEAR(found.value, best, 1e-9) << seed;
    EXPECT_NEAR(value_of(problem, found.place), found.value, 1e-9) << seed;
    EXPECT_TRUE(found.complete) << seed;
    EXPECT_GE(found.bound, best - 1e-9) << seed;
  }
}

TEST(MultipleKnapsack, EndsAfterTheStepsAllowed) {
  const MultipleKnapsack problem = random_problem(1);
  const MultipleKnapsackResult found = solve(problem, {.steps = 20});
  EXPECT_FALSE(found.complete);
  EXPECT_GE(value_of(problem, found.place), 0.0);
  EXPECT_TRUE(std::ranges::all_of(solve(problem, {.cells = 1}).place, [](int p) { return p < 0; }));
}

}  // namespace
}  // namespace berth::solver::bounding
