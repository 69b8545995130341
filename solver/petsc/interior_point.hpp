// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace berth::solver {

/// max value x  subject to  A x <= rhs, x >= 0, with rhs >= 0. Columns are sparse.
struct LinearProgram {
  std::vector<std::size_t> start{0};  ///< column j owns entries [start[j], start[j + 1])
  std::vector<std::int32_t> row;
  std::vector<double> coefficient;
  std::vector<double> value;  ///< by column
  std::vector<double> rhs;    ///< by row, >= 0
  double mass = 1.0;          ///< no feasible x sums to more than this

  [[nodiscard]] std::size_t columns() const { return value.size(); }
  [[nodiscard]] std::size_t rows() const { return rhs.size(); }
  void add_column(double worth, std::span<const std::pair<std::int32_t, double>> entries);
  /// sum_i a_ij y_i
  [[nodiscard]] double cost(std::size_t column, std::span<const double> y) const;
};

/// A point strictly inside: x, slack, price > 0, and reduced = A'price - value where price is
/// feasible for the dual. Also the result.
struct PrimalDual {
  std::vector<double> x;        ///< by column
  std::vector<double> reduced;  ///< by column, z
  std::vector<double> slack;    ///< by row, s
  std::vector<double> price;    ///< by row, y
};

enum class SolveStatus : std::uint8_t { optimal, iteration_limit, numerical_trouble };

struct InteriorPointResult {
  SolveStatus status = SolveStatus::optimal;
  int iterations = 0;
};

struct InteriorPointOptions {
  double tolerance = 1e-6;  ///< absolute error of the objective
  int iterations = 80;      ///< at most
};

/// A start for any such program: x inside every row with non-negative entries.
PrimalDual cold_point(const LinearProgram& lp);

/// Mehrotra's predictor-corrector (SIAM J. Optim. 2, 1992) on dense normal equations, factored in
/// place by PETSc. Moves `point` from any positive start to one whose objective is within
/// `tolerance` of the optimum. Columns that a row with rhs 0 holds at zero are left out: their x
/// and reduced cost become 0. @pre a PetscSession lives; point has the sizes of lp
/// O(rows^3 + entries x column length) an iteration.
InteriorPointResult solve(const LinearProgram& lp, PrimalDual& point,
                          const InteriorPointOptions& options);

}  // namespace berth::solver
