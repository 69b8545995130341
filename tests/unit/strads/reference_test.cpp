// SPDX-License-Identifier: Apache-2.0
// The two published cases of STRADS: Lasso and matrix factorisation (bench/papers).
#include "strads_factors.hpp"
#include "strads_lasso.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "berth/strads/dependency.hpp"
#include "berth/strads/schedule.hpp"

namespace berth::bench {
namespace {

TEST(StradsLasso, TheDependencyCheckDecidesBetweenConvergenceAndDivergence) {
  const Lasso problem({}, 1);
  const double optimum = problem.optimum();
  const auto run = [&](const LassoRule& rule, int limit) {
    return solve_lasso(problem, optimum, rule, 64, limit, 1);
  };
  const LassoRun unchecked = run({.importance = true, .floor = 0.1}, 300);
  EXPECT_TRUE(unchecked.diverged);
  const LassoRun checked = run({.importance = true, .floor = 1.0, .dependency = 0.1}, 1'200);
  EXPECT_TRUE(checked.reached);
  EXPECT_EQ(checked.rises, 0);
  // Commits one by one need no bound on correlations.
  const LassoRun commits = run({.importance = true, .floor = 0.1, .commits = true}, 600);
  EXPECT_TRUE(commits.reached);
  EXPECT_EQ(commits.rises, 0);
  EXPECT_LT(commits.rounds, checked.rounds);
}

/// Columns whose correlations are below rho may change together:
/// F(new) <= F(old) - 1/2 (1 - rho (size - 1)) sum of squares of the changes.
TEST(StradsLasso, ChecksGuaranteeDescent) {
  constexpr double kRho = 0.15;
  const LassoSetting setting = {.rows = 120, .columns = 60, .group = 3, .nonzero = 10};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Lasso problem(setting, seed);
    std::vector<std::size_t> all(setting.columns);
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto conflict = [&](std::size_t j, std::size_t k) {
      return std::abs(problem.correlation(j, k)) >= kRho;
    };
    for (int round = 0; round < 5; ++round) {
      auto chosen = strads::without_conflicts(all, conflict);
      for (std::size_t a = 0; a < chosen.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) EXPECT_FALSE(conflict(chosen[a], chosen[b]));
      }
      chosen.resize(std::min<std::size_t>(chosen.size(), 6));
      std::vector<double> changes;
      double squares = 0.0;
      for (const std::size_t j : chosen) {
        changes.push_back(problem.best_change(j));
        squares += changes.back() * changes.back();
      }
      const double before = problem.objective();
      for (std::size_t i = 0; i < chosen.size(); ++i) problem.change(chosen[i], changes[i]);
      const double part = 0.5 * (1.0 - kRho * static_cast<double>(chosen.size() - 1));
      EXPECT_LE(problem.objective(), before - part * squares + 1e-9);
      std::ranges::rotate(all, all.begin() + 7);
    }
  }
}

TEST(StradsLasso, GainsAreDifferencesOfTheObjective) {
  Lasso problem({.rows = 40, .columns = 30, .group = 3, .nonzero = 5}, 3);
  for (std::size_t j = 0; j < 30; ++j) {
    const double change = problem.best_change(j), gain = problem.gain(j, change);
    const double before = problem.objective();
    problem.change(j, change);
    EXPECT_NEAR(before - problem.objective(), gain, 1e-9);
    EXPECT_GE(gain, 0.5 * change * change - 1e-9);
  }
}

TEST(StradsFactorisation, RowsOfOneFactorDoNotDependOnEachOther) {
  const RatingSetting setting = {.users = 60, .items = 30, .ratings = 600, .rank = 3};
  Factorisation together(setting, 1), backwards = together;
  std::vector<double> values;
  for (std::size_t u = 0; u < setting.users; ++u) values.push_back(together.best(true, u, 0));
  for (std::size_t u = setting.users; u-- > 0;) {
    EXPECT_EQ(backwards.best(true, u, 0), values[u]);  // though later users have changed
    backwards.set(true, u, 0, values[u]);
  }
}

TEST(StradsFactorisation, TurnsOfSidesDescendAndBothSidesAtOnceDoNot) {
  const RatingSetting setting = {.users = 200, .items = 60, .ratings = 4'000, .rank = 4};
  Factorisation turns(setting, 2), both = turns;
  double before = turns.objective();
  int rises = 0;
  double before_both = before;
  const double first = before;
  for (int sweep = 0; sweep < 15; ++sweep) {
    turns.sweep();
    EXPECT_LE(turns.objective(), before);
    before = turns.objective();
    both.sweep_both_sides_at_once();
    rises += both.objective() > before_both;
    before_both = both.objective();
  }
  EXPECT_LT(before, 0.1 * first);
  EXPECT_GT(rises, 0);
  EXPECT_GT(before_both, 2.0 * before);
}

TEST(StradsFactorisation, DispatchBalancesRowsOfAPowerLaw) {
  const Factorisation problem({}, 1);
  const auto loads = problem.ratings_of_users();
  constexpr int kWorkers = 16;
  std::vector<int> even(loads.size());
  for (std::size_t u = 0; u < even.size(); ++u)
    even[u] = static_cast<int>(u * kWorkers / even.size());
  EXPECT_GT(imbalance(loads, even, kWorkers), 3.0);
  EXPECT_LT(imbalance(loads, strads::dispatch(loads, kWorkers), kWorkers), 1.01);
}

}  // namespace
}  // namespace berth::bench
