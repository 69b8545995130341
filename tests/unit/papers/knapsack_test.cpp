// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/knapsack.hpp"

#include "petsc_environment.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::papers {
namespace {

Knapsack worked_case() { return {{10, 8}, {10, 9, 12, 8, 17}, {4, 2, 3, 3, 5, 1, 2, 4, 6, 5}}; }

Knapsack random_knapsack(std::uint64_t seed, std::size_t items, std::size_t resources) {
  Knapsack k;
  for (std::size_t r = 0; r < resources; ++r) {
    k.capacity.push_back(static_cast<double>(items) * (0.1 + 0.2 * random_unit({seed, r, 1})));
  }
  for (std::size_t i = 0; i < items; ++i) {
    k.utility.push_back(1.0 + 99.0 * random_unit({seed, i, 2}));
    for (std::size_t r = 0; r < resources; ++r) k.size.push_back(random_unit({seed, i, r, 3}));
  }
  return k;
}

/// Utility of the taken items; -1 when they do not fit or the choice tells another utility.
double checked(const Knapsack& k, const KnapsackChoice& choice) {
  double utility = 0.0;
  for (std::size_t r = 0; r < k.resources(); ++r) {
    double used = 0.0;
    for (std::size_t i = 0; i < k.items(); ++i) used += choice.taken[i] * k.size_of(i)[r];
    if (used > k.capacity[r] * (1 + 1e-9)) return -1.0;
  }
  for (std::size_t i = 0; i < k.items(); ++i) utility += choice.taken[i] * k.utility[i];
  return std::abs(utility - choice.utility) > 1e-6 ? -1.0 : utility;
}

double brute_force(const Knapsack& k) {
  double best = 0.0;
  for (std::uint32_t set = 0; set < (1u << k.items()); ++set) {
    KnapsackChoice choice;
    for (std::size_t i = 0; i < k.items(); ++i) {
      choice.taken.push_back(static_cast<char>((set >> i) & 1u));
      choice.utility += choice.taken[i] * k.utility[i];
    }
    best = std::max(best, checked(k, choice));
  }
  return best;
}

TEST(Knapsack, solves_the_worked_case) {
  const Knapsack k = worked_case();
  const KnapsackChoice best = best_knapsack(k);
  EXPECT_TRUE(best.proved);
  EXPECT_DOUBLE_EQ(best.utility, 29.0);
  EXPECT_EQ(best.taken, (std::vector<char>{0, 1, 1, 1, 0}));
  EXPECT_GE(relax(k).bound, 29.0 - 1e-9);
}

TEST(Knapsack, agrees_with_all_sets_of_random_items) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Knapsack k = random_knapsack(seed, 11, 1 + seed % 4);
    const double optimum = brute_force(k);
    const KnapsackRelaxation relaxation = relax(k);
    const KnapsackChoice best = best_knapsack(k);
    EXPECT_TRUE(best.proved);
    EXPECT_NEAR(checked(k, best), optimum, 1e-6);
    EXPECT_GE(relaxation.bound, optimum - 1e-6);
    EXPECT_LE(
        std::ranges::count_if(relaxation.x, [](double x) { return x > 1e-6 && x < 1 - 1e-6; }),
        static_cast<std::ptrdiff_t>(k.resources()));
    const double greedy = checked(k, greedy_knapsack(k, relaxation.price));
    EXPECT_LE(greedy, optimum + 1e-6);
    EXPECT_GE(greedy, 0.7 * optimum);
    EXPECT_LE(checked(k, first_fit_knapsack(k, true)), optimum + 1e-6);
    EXPECT_GE(checked(k, first_fit_knapsack(k, false)), 0.0);
  }
}

// With k = min(items, ceil(R (1 - epsilon) / epsilon)) the scheme is within epsilon; with all items
// it is exact. k = 0 is the rounded relaxation alone.
TEST(Knapsack, scheme_keeps_its_guarantee) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Knapsack k = random_knapsack(seed, 9, 2);
    const double optimum = brute_force(k);
    EXPECT_GE(checked(k, frieze_clarke_knapsack(k, 2)), 0.5 * optimum);
    EXPECT_GE(checked(k, frieze_clarke_knapsack(k, 3)), 0.6 * optimum);
    EXPECT_NEAR(checked(k, frieze_clarke_knapsack(k, 9)), optimum, 1e-6);
    EXPECT_LE(checked(k, frieze_clarke_knapsack(k, 0)), optimum + 1e-6);
  }
}

TEST(Knapsack, proves_fifty_items_and_admits_when_nodes_end) {
  const Knapsack k = random_knapsack(5, 50, 4);
  const KnapsackChoice best = best_knapsack(k);
  EXPECT_TRUE(best.proved);
  EXPECT_LE(checked(k, best), relax(k).bound + 1e-6);
  const KnapsackChoice cut = best_knapsack(k, 10);
  EXPECT_FALSE(cut.proved);
  EXPECT_GE(checked(k, cut), 0.0);
}

}  // namespace
}  // namespace berth::papers
