// SPDX-License-Identifier: Apache-2.0
// Weak duality against all plans: whatever the prices, the bound is never below the optimum.
// Prices are random first, then nudged towards smaller bounds, which looks for the weakest spot.
#include "exhaustive.hpp"
#include "random_tiny.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"

namespace berth {
namespace {

constexpr std::int64_t kSteps = 30'000;  // of the exhaustive search
constexpr double kRounding = 1e-9;       // the search sums doubles

struct Totals {
  int judged = 0, given_up = 0;
  int contended = 0;  ///< optimum below the bound at zero prices
  int tight = 0;      ///< of these: bound within 5 % of the optimum
};

void judge(std::uint64_t seed, int nudges, Totals& totals) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Dice dice(seed);
  const auto kind = dice.chance(70) ? model::Objective::value : model::Objective::allocate;
  const model::Instance instance = test::random_tiny(dice);
  std::vector<bool> must;
  std::vector<JobId> required;
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    must.push_back(instance.workload.jobs[j].required);
    if (must.back()) required.emplace_back(j);
  }
  const auto best = test::best_plan(instance, kind, must, kSteps);
  if (!best) {
    ++totals.given_up;
    return;
  }
  ++totals.judged;
  EXPECT_NEAR(certify::objective(instance, kind, best->placement).value, best->value, kRounding);
  model::Certificate prices = test::random_prices(dice, instance, kind);
  ASSERT_EQ(certify::unusable(instance, kind, prices), "");
  const certify::Bound first = certify::upper_bound(instance, kind, prices, required);
  double least = first.value;
  ASSERT_GE(least, best->value - kRounding) << "at random prices";
  for (int n = 0; n < nudges; ++n) {
    const model::Certificate other = test::nudged(dice, prices);
    const double bound = certify::upper_bound(instance, kind, other, required).value;
    ASSERT_GE(bound, best->value - kRounding) << "after " << n << " nudges";
    if (bound <= least) prices = other;
    least = std::min(least, bound);
  }
  if (std::ldexp(static_cast<double>(first.zero_price), -first.scale_log2) <= best->value * 1.05) {
    return;
  }
  ++totals.contended;
  if (least <= best->value * 1.05) ++totals.tight;
}

Totals judge_many(std::uint64_t first, int instances, int nudges) {
  Totals totals;
  for (int i = 0; i < instances && !testing::Test::HasFatalFailure(); ++i) {
    judge(first + static_cast<std::uint64_t>(i), nudges, totals);
  }
  std::printf("judged %d, contended %d, tight %d, given up or infeasible %d\n", totals.judged,
              totals.contended, totals.tight, totals.given_up);
  return totals;
}

TEST(BoundProperty, is_never_below_the_optimum) {
  const Totals totals = judge_many(1, 3000, 200);
  EXPECT_GT(totals.judged, 2000);
  EXPECT_GT(totals.tight, 50) << "bounds too weak to find a mistake";
}

TEST(BoundPropertySlow, is_never_below_the_optimum_on_many) { judge_many(1'000'000, 40'000, 600); }

}  // namespace
}  // namespace berth
