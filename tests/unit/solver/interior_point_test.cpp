// SPDX-License-Identifier: Apache-2.0
#include "petsc/interior_point.hpp"

#include "patterns/crossover.hpp"
#include "petsc_environment.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "berth/solver/petsc_session.hpp"

namespace berth::solver {
namespace {

using Column = std::pair<double, std::vector<std::pair<std::int32_t, double>>>;

LinearProgram program(std::vector<double> rhs, double mass, const std::vector<Column>& columns) {
  LinearProgram lp;
  lp.rhs = std::move(rhs);
  lp.max_sum = mass;
  for (const auto& [value, entries] : columns) lp.add_column(value, entries);
  return lp;
}

double objective(const LinearProgram& lp, std::span<const double> x) {
  double sum = 0.0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += lp.value[j] * x[j];
  return sum;
}

/// Solves from the cold point and checks value, rows, and that the prices prove the value.
PrimalDualPoint solve_to(const LinearProgram& lp, double optimum, double tolerance) {
  PrimalDualPoint p = starting_point(lp);
  const auto result = solve(lp, p, {.tolerance = tolerance, .iterations = 80});
  EXPECT_EQ(result.status, SolveStatus::optimal);
  EXPECT_NEAR(objective(lp, p.x), optimum, 2 * tolerance);
  double bound = 0.0;
  for (std::size_t i = 0; i < lp.rows(); ++i) bound += lp.rhs[i] * p.price[i];
  EXPECT_NEAR(bound, optimum, 3 * tolerance);
  const BasicSolution v = crossover(lp, p.x, 1e-9);
  EXPECT_NEAR(objective(lp, v.x), optimum, 4 * tolerance);
  return p;
}

// max 3a + 5b; a <= 4, 2b <= 12, 3a + 2b <= 18: a = 2, b = 6, 36; prices 0, 3/2, 1.
TEST(InteriorPoint, solves_a_textbook_program) {
  const auto lp = program({4, 12, 18}, 10, {{3, {{0, 1}, {2, 3}}}, {5, {{1, 2}, {2, 2}}}});
  const PrimalDualPoint p = solve_to(lp, 36, 1e-7);
  EXPECT_NEAR(p.x[0], 2, 1e-5);
  EXPECT_NEAR(p.x[1], 6, 1e-5);
  EXPECT_NEAR(p.price[0], 0, 1e-5);
  EXPECT_NEAR(p.price[1], 1.5, 1e-5);
  EXPECT_NEAR(p.price[2], 1, 1e-5);
}

// max a + b; a + b <= 1 twice and 2a + 2b <= 2: a whole edge is optimal, rows repeat.
TEST(InteriorPoint, solves_a_degenerate_program) {
  const auto lp =
      program({1, 1, 2}, 1, {{1, {{0, 1}, {1, 1}, {2, 2}}}, {1, {{0, 1}, {1, 1}, {2, 2}}}});
  solve_to(lp, 1, 1e-7);
}

// A corner with three tight rows in two dimensions: a <= 1, b <= 1, a + b <= 2; 2a + b = 3.
TEST(InteriorPoint, solves_an_overdetermined_corner) {
  const auto lp = program({1, 1, 2}, 2, {{2, {{0, 1}, {2, 1}}}, {1, {{1, 1}, {2, 1}}}});
  const PrimalDualPoint p = solve_to(lp, 3, 1e-7);
  EXPECT_NEAR(p.x[0], 1, 1e-5);
  EXPECT_NEAR(p.x[1], 1, 1e-5);
}

// Rows and columns over nine orders of magnitude: 1e6 a <= 1e6, 1e-3 b <= 1e-3; a + 1e-2 b = 1.01.
TEST(InteriorPoint, solves_a_badly_scaled_program) {
  const auto lp = program({1e6, 1e-3}, 2, {{1, {{0, 1e6}}}, {1e-2, {{1, 1e-3}}}});
  solve_to(lp, 1.01, 1e-8);
}

// Nothing is worth anything: 0.
TEST(InteriorPoint, solves_a_program_without_value) {
  const auto lp = program({5, 3}, 8, {{0, {{0, 1}}}, {0, {{1, 1}}}});
  solve_to(lp, 0, 1e-7);
}

// A row without room holds its columns at zero: a <= 0, a + b <= 3; a + b = 3 by b alone.
TEST(InteriorPoint, leaves_out_columns_without_room) {
  const auto lp = program({0, 3}, 3, {{1, {{0, 1}, {1, 1}}}, {1, {{1, 1}}}});
  PrimalDualPoint p = starting_point(lp);
  EXPECT_EQ(solve(lp, p, {.tolerance = 1e-7, .iterations = 80}).status, SolveStatus::optimal);
  EXPECT_EQ(p.x[0], 0.0);
  EXPECT_NEAR(p.x[1], 3, 1e-5);
}

// A loss is not taken: -1 a, a <= 3: 0.
TEST(InteriorPoint, leaves_a_loss_alone) {
  solve_to(program({3, 4}, 7, {{-1, {{0, 1}}}, {1, {{1, 2}}}}), 2, 1e-7);
}

// A negative entry makes room: a - b <= 0, b <= 2: a = b = 2, value 3a - b = 4.
TEST(InteriorPoint, uses_negative_entries) {
  solve_to(program({0, 2}, 4, {{3, {{0, 1}}}, {-1, {{0, -1}, {1, 1}}}}), 4, 1e-7);
}

TEST(InteriorPoint, answers_empty_programs) {
  LinearProgram none;
  PrimalDualPoint p = starting_point(none);
  EXPECT_EQ(solve(none, p, {}).status, SolveStatus::optimal);
  const auto rows_only = program({1, 2}, 1, {});
  p = starting_point(rows_only);
  EXPECT_EQ(solve(rows_only, p, {}).status, SolveStatus::optimal);
  EXPECT_EQ(p.price, (std::vector<double>{0, 0}));
}

// Cutting stock (Gilmore and Gomory): bars of 10, 4 x 5 and 6 x 3 wanted, 4 bars; value = length
// used. Patterns {2 of 5}, {1 of 5, 1 of 3}, {3 of 3}; all 38 fit: 2 + 2 bars.
TEST(InteriorPoint, solves_a_cutting_stock_master) {
  const auto lp = program(
      {4, 6, 4}, 4, {{10, {{0, 2}, {2, 1}}}, {8, {{0, 1}, {1, 1}, {2, 1}}}, {9, {{1, 3}, {2, 1}}}});
  const PrimalDualPoint p = solve_to(lp, 38, 1e-7);
  EXPECT_NEAR(p.x[0], 2, 1e-5);
  EXPECT_NEAR(p.x[2], 2, 1e-5);
}

TEST(InteriorPoint, says_when_iterations_run_out) {
  const auto lp = program({4, 12, 18}, 10, {{3, {{0, 1}, {2, 3}}}, {5, {{1, 2}, {2, 2}}}});
  PrimalDualPoint p = starting_point(lp);
  EXPECT_EQ(solve(lp, p, {.tolerance = 1e-9, .iterations = 2}).status,
            SolveStatus::iteration_limit);
}

// From the middle of an optimal edge (a + b = 1) to one of its ends.
TEST(Crossover, leaves_an_edge) {
  const auto lp = program({1}, 1, {{1, {{0, 1}}}, {1, {{0, 1}}}});
  const std::vector<double> middle{0.5, 0.5};
  const BasicSolution v = crossover(lp, middle);
  EXPECT_NEAR(v.x[0] + v.x[1], 1, 1e-12);
  EXPECT_TRUE(v.x[0] == 0.0 || v.x[1] == 0.0);
  EXPECT_NEAR(v.price[0], 1, 1e-12);
}

TEST(Crossover, never_loses_value) {
  const auto lp =
      program({2, 3, 4}, 9, {{3, {{0, 1}, {1, 1}}}, {2, {{1, 1}, {2, 2}}}, {4, {{0, 1}, {2, 1}}}});
  const std::vector<double> inside{0.5, 0.6, 0.7};
  const BasicSolution v = crossover(lp, inside);
  EXPECT_GE(objective(lp, v.x), objective(lp, inside) - 1e-12);
}

TEST(PetscSession, lives_during_the_tests) { EXPECT_TRUE(PetscSession::active()); }

}  // namespace
}  // namespace berth::solver
