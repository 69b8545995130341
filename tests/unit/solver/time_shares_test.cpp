// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/time_shares.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::test {
namespace {

using solver::ShareProblem;
using solver::TimeShares;

/// Jobs of 1 to 8 GPUs with rates over a factor of 8, some types unfit.
ShareProblem random_shares(std::uint64_t seed, std::size_t jobs, std::size_t types, double load) {
  ShareProblem problem;
  double gpus = 0.0;
  for (std::size_t j = 0; j < jobs; ++j) {
    problem.gpus.push_back(static_cast<double>(1ULL << random_below(4, {seed, j, 1})));
    gpus += problem.gpus.back();
    for (std::size_t t = 0; t < types; ++t) {
      const double rate = std::exp2(3.0 * random_unit({seed, j, 2, t}));
      const bool unfit = t > 0 && random_below(8, {seed, j, 3, t}) == 0;
      problem.rate.push_back(unfit ? 0.0 : rate * problem.gpus.back());
    }
  }
  for (std::size_t t = 0; t < types; ++t) {
    problem.capacity.push_back(gpus / load / static_cast<double>(types));
  }
  return problem;
}

double progress(const ShareProblem& p, const TimeShares& s, std::size_t j) {
  double sum = 0.0;
  for (std::size_t t = 0; t < p.types(); ++t) {
    sum += p.rates_of(j)[t] * s.share[j * p.types() + t];
  }
  return sum;
}

void expect_feasible(const ShareProblem& p, const TimeShares& s) {
  std::vector<double> use(p.types());
  for (std::size_t j = 0; j < p.jobs(); ++j) {
    double time = 0.0;
    for (std::size_t t = 0; t < p.types(); ++t) {
      const double share = s.share[j * p.types() + t];
      EXPECT_GE(share, 0.0);
      time += share;
      use[t] += share * p.gpus[j];
    }
    EXPECT_LE(time, 1.0 + 1e-12);
  }
  for (std::size_t t = 0; t < p.types(); ++t) EXPECT_LE(use[t], p.capacity[t] * (1.0 + 1e-12));
}

/// The bound that prices and weights prove; `sum` divides it for the least progress.
double bound_of(const ShareProblem& p, const TimeShares& s, double sum) {
  double bound = 0.0;
  for (std::size_t t = 0; t < p.types(); ++t) bound += s.price[t] * p.capacity[t];
  for (std::size_t j = 0; j < p.jobs(); ++j) {
    double most = 0.0;
    for (std::size_t t = 0; t < p.types(); ++t) {
      most = std::max(most, s.weight[j] * p.rates_of(j)[t] - s.price[t] * p.gpus[j]);
    }
    bound += most;
  }
  return bound / sum;
}

double weights(const TimeShares& s) {
  double sum = 0.0;
  for (const double w : s.weight) sum += w;
  return sum;
}

void expect_least(const ShareProblem& p, const TimeShares& s, double gap) {
  expect_feasible(p, s);
  double least = 1e300;
  for (std::size_t j = 0; j < p.jobs(); ++j) least = std::min(least, progress(p, s, j));
  EXPECT_NEAR(s.value, least, 1e-12 * least);
  EXPECT_NEAR(bound_of(p, s, weights(s)), s.bound, 1e-9 * s.bound);
  EXPECT_LE(s.gap(), gap);
  EXPECT_GE(s.bound, s.value * (1.0 - 1e-9));
}

TEST(TimeShares, max_min_solved_by_hand) {
  // one GPU for two jobs: half the time each
  EXPECT_NEAR(solver::max_min_shares({{1.0}, {1.0, 1.0}, {1.0, 1.0}}).value, 0.5, 1e-4);
  // a job three times as fast gets a quarter of the time
  const auto quarter = solver::max_min_shares({{1.0}, {1.0, 1.0}, {3.0, 1.0}});
  EXPECT_NEAR(quarter.value, 0.75, 1e-4);
  EXPECT_NEAR(quarter.share[0], 0.25, 1e-4);
  // job 0 is twice as fast on type 0, job 1 on both alike: both have a GPU of their own
  const auto both = solver::max_min_shares({{1.0, 1.0}, {1.0, 1.0}, {2.0, 1.0, 1.0, 1.0}});
  EXPECT_NEAR(both.value, 1.0, 1e-4);
  // two jobs share types of speed 4 and 1: job 1 alone gains on type 0. x on it for job 1:
  // job 0 makes 2 (1 - x) + 1 (x), job 1 makes 4 x + 1 (1 - x), equal at x = 1/4
  const auto mixed = solver::max_min_shares({{1.0, 1.0}, {1.0, 1.0}, {2.0, 1.0, 4.0, 1.0}});
  EXPECT_NEAR(mixed.value, 1.75, 1e-3);
}

TEST(TimeShares, max_sum_solved_by_hand) {
  // the GPU is worth most to job 1
  const auto one = solver::max_sum_shares({{1.0}, {1.0, 1.0}, {1.0, 3.0}});
  EXPECT_NEAR(one.value, 3.0, 1e-3);
  EXPECT_NEAR(one.share[1], 1.0, 1e-3);
  // a gang of 2 GPUs on the only 2 GPUs against two jobs of 0.6 each: the two
  const auto two = solver::max_sum_shares({{2.0}, {2.0, 1.0, 1.0}, {1.0, 0.6, 0.6}});
  EXPECT_NEAR(two.value, 1.2, 1e-3);
}

TEST(TimeShares, random_problems_are_solved_and_proved) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::size_t types = 1 + seed % 5;
    const ShareProblem p = random_shares(seed, 1 + seed % 40, types, 0.5 + 0.1 * double(seed % 30));
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_least(p, solver::max_min_shares(p, {.gap = 1e-6, .most_columns = 400}), 1e-5);
    const TimeShares sum = solver::max_sum_shares(p, {.gap = 1e-6, .most_columns = 400});
    expect_feasible(p, sum);
    EXPECT_NEAR(bound_of(p, sum, 1.0), sum.bound, 1e-9 * sum.bound);
    EXPECT_LE(sum.gap(), 1e-5);
  }
}

TEST(TimeShares, many_jobs_on_three_types_within_the_promised_gap) {
  const ShareProblem p = random_shares(7, 16'384, 3, 2.0);
  const TimeShares s = solver::max_min_shares(p);
  expect_least(p, s, 2e-3);
  std::printf("16,384 jobs, 3 types: %.6f, gap %.4f %%, %d columns\n", s.value, 100.0 * s.gap(),
              s.columns);
}

TEST(TimeShares, do_not_depend_on_threads) {
  const ShareProblem p = random_shares(9, 5'000, 4, 1.5);
  const auto with_threads = [&](int threads) {
    const parallel::ThreadLimit limit(threads);
    return solver::max_min_shares(p).share;
  };
  EXPECT_EQ(with_threads(1), with_threads(3));
}

}  // namespace
}  // namespace berth::test
