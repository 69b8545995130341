// SPDX-License-Identifier: Apache-2.0
// The interior point and the purifying walk against Clp, on drawn packing programs: plain, with
// ties everywhere, with scales nine orders of magnitude apart, with rows that have no room, with
// losses and entries that make room, without columns.
#include "clp_optimum.hpp"
#include "patterns/crossover.hpp"
#include "petsc/interior_point.hpp"
#include "petsc_environment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::solver {
namespace {

enum class Kind { plain, degenerate, badly_scaled, without_room, with_losses };

class Draws {
 public:
  Draws(std::uint64_t seed, Kind kind) : seed_(seed), kind_(static_cast<std::uint64_t>(kind)) {}
  double unit() { return random_unit({seed_, kind_, draws_++}); }
  std::size_t below(std::size_t bound) { return random_below(bound, {seed_, kind_, draws_++}); }
  bool chance(double share) { return unit() < share; }

 private:
  std::uint64_t seed_, kind_, draws_ = 0;
};

using Entries = std::vector<std::pair<std::int32_t, double>>;

/// Positive entries in a few rows.
Entries drawn_column(Draws& draws, std::size_t rows, bool integers) {
  Entries entries;
  const double share = rows < 6 ? 0.5 : 3.0 / static_cast<double>(rows);
  const std::size_t certain = draws.below(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    if (i != certain && !draws.chance(share)) continue;
    const double a = integers ? 1.0 + static_cast<double>(draws.below(2)) : 0.2 + draws.unit();
    entries.emplace_back(static_cast<std::int32_t>(i), a);
  }
  return entries;
}

/// No feasible x sums to more: each column is limited by its tightest row. Columns that make room
/// in one row take it from another that gets none (add_suppliers).
double mass_of(const LinearProgram& lp) {
  std::vector<double> rooms = lp.rhs;
  for (std::size_t e = 0; e < lp.row.size(); ++e) {
    const auto row = static_cast<std::size_t>(lp.row[e]);
    if (lp.coefficient[e] < 0.0) rooms[row] -= lp.coefficient[e] * lp.rhs[row + 1];
  }
  double mass = 1.0;
  for (std::size_t j = 0; j < lp.columns(); ++j) {
    double most = std::numeric_limits<double>::infinity();
    for (std::size_t e = lp.start[j]; e < lp.start[j + 1]; ++e) {
      const double room = rooms[static_cast<std::size_t>(lp.row[e])];
      if (lp.coefficient[e] > 0.0) most = std::min(most, room / lp.coefficient[e]);
    }
    mass += most;
  }
  return mass;
}

/// Rows and columns multiplied by powers of ten; the optimum stays.
void stretch(Draws& draws, LinearProgram& lp) {
  std::vector<double> rows(lp.rows());
  for (std::size_t i = 0; i < lp.rows(); ++i) {
    rows[i] = std::pow(10.0, static_cast<double>(draws.below(9)) - 4.0);
    lp.rhs[i] *= rows[i];
  }
  for (std::size_t j = 0; j < lp.columns(); ++j) {
    const double column = std::pow(10.0, static_cast<double>(draws.below(3)) - 1.0);
    lp.value[j] *= column;
    for (std::size_t e = lp.start[j]; e < lp.start[j + 1]; ++e) {
      lp.coefficient[e] *= column * rows[static_cast<std::size_t>(lp.row[e])];
    }
  }
}

/// Entry j of a row paid for by another column: a bounded program whose columns make room.
void add_suppliers(Draws& draws, LinearProgram& lp) {
  for (std::size_t i = 0; i + 1 < lp.rows(); i += 2) {
    const Entries entries{{static_cast<std::int32_t>(i), -1.0 - draws.unit()},
                          {static_cast<std::int32_t>(i + 1), 1.0}};
    lp.add_column(-draws.unit(), entries);
  }
}

LinearProgram draw(std::uint64_t seed, Kind kind) {
  Draws draws(seed, kind);
  LinearProgram lp;
  const bool integers = kind == Kind::degenerate;
  const std::size_t rows = 1 + draws.below(30), columns = draws.below(90);
  for (std::size_t i = 0; i < rows; ++i) {
    lp.rhs.push_back(integers ? 1.0 + static_cast<double>(draws.below(3))
                              : 5.0 + 40.0 * draws.unit());
    if (kind == Kind::without_room && draws.chance(0.2)) lp.rhs.back() = 0.0;
  }
  for (std::size_t j = 0; j < columns; ++j) {
    const Entries entries = drawn_column(draws, rows, integers);
    double sum = 0.0;
    for (const auto& [row, a] : entries) sum += a;
    double value = integers ? sum : sum * (0.5 + draws.unit());  // with ties: all alike
    if (kind == Kind::with_losses && draws.chance(0.2)) value = -value;
    lp.add_column(value, entries);
    if (integers && draws.chance(0.3)) lp.add_column(value, entries);
  }
  if (kind == Kind::with_losses) add_suppliers(draws, lp);
  if (kind == Kind::badly_scaled) stretch(draws, lp);
  lp.max_sum = mass_of(lp);
  return lp;
}

double objective(const LinearProgram& lp, std::span<const double> x) {
  double sum = 0.0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += lp.value[j] * x[j];
  return sum;
}

/// Largest excess of a row over its right-hand side, as a share of it (of 1 where that is 0).
double worst_excess(const LinearProgram& lp, std::span<const double> x) {
  std::vector<double> used(lp.rows(), 0.0);
  for (std::size_t j = 0; j < x.size(); ++j) {
    for (std::size_t e = lp.start[j]; e < lp.start[j + 1]; ++e) {
      used[static_cast<std::size_t>(lp.row[e])] += lp.coefficient[e] * x[j];
    }
  }
  double worst = 0.0;
  for (std::size_t i = 0; i < lp.rows(); ++i) {
    worst = std::max(worst, (used[i] - lp.rhs[i]) / (lp.rhs[i] > 0.0 ? lp.rhs[i] : 1.0));
  }
  return worst;
}

void compare(const LinearProgram& lp) {
  const double optimum = test::clp_optimum(lp).value;
  const double tolerance = 1e-7 * std::max(1.0, std::abs(optimum));
  PrimalDualPoint point = starting_point(lp);
  const auto result = solve(lp, point, {.tolerance = tolerance, .iterations = 100});
  ASSERT_EQ(result.status, SolveStatus::optimal);
  EXPECT_NEAR(objective(lp, point.x), optimum, 2 * tolerance);
  EXPECT_LE(worst_excess(lp, point.x), 1e-6);
  double bound = 0.0;
  for (std::size_t i = 0; i < lp.rows(); ++i) {
    EXPECT_GE(point.price[i], 0.0);
    bound += lp.rhs[i] * point.price[i];
  }
  EXPECT_NEAR(bound, optimum, 3 * tolerance);
  const BasicSolution vertex = crossover(lp, point.x, 1e-9);
  EXPECT_NEAR(objective(lp, vertex.x), optimum, 4 * tolerance);
  EXPECT_LE(worst_excess(lp, vertex.x), 1e-6);
}

class AgainstClp : public testing::TestWithParam<Kind> {};

TEST_P(AgainstClp, finds_the_same_optimum) {
  for (std::uint64_t seed = 1; seed <= 150 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    compare(draw(seed, GetParam()));
  }
}

std::string kind_name(const testing::TestParamInfo<Kind>& kind) {
  static constexpr const char* kNames[] = {"plain", "degenerate", "badly_scaled", "without_room",
                                           "with_losses"};
  return kNames[static_cast<std::size_t>(kind.param)];
}

INSTANTIATE_TEST_SUITE_P(Programs, AgainstClp,
                         testing::Values(Kind::plain, Kind::degenerate, Kind::badly_scaled,
                                         Kind::without_room, Kind::with_losses),
                         kind_name);

TEST(Clp, agrees_with_itself) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LinearProgram lp = draw(seed, Kind::plain);
    const double dual = test::clp_optimum(lp).value;
    EXPECT_NEAR(test::clp_optimum_primal(lp).value, dual, 1e-8 * std::max(1.0, dual));
  }
}

TEST(Clp, agrees_on_empty_programs) {
  LinearProgram lp;
  lp.rhs = {1.0, 2.0};
  compare(lp);
}

}  // namespace
}  // namespace berth::solver
