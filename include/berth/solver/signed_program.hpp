// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace berth::solver {

/// Linear program of coefficients of any sign, in which x = 0 is feasible:
///
///   max v x  subject to  A x <= b,  0 <= x <= u,  with b, u >= 0
///
/// Flows are such programs: what leaves a node is no more than what enters it.
class SignedProgram {
 public:
  struct Entry {
    std::size_t row;
    double coefficient;
  };
  struct Column {
    double value = 0.0;
    std::vector<Entry> entries;
    double upper = 1.0;  ///< > 0; some optimum of the rows alone obeys it
  };

  /// Index of the new row A x <= most. @pre 0 <= most, finite
  std::size_t add_row(double most);
  /// Index of the new variable. @pre its rows exist, each at most once; the rows bound its value
  std::size_t add_column(Column column);

  [[nodiscard]] std::span<const Column> columns() const { return columns_; }
  [[nodiscard]] std::span<const double> rows() const { return rows_; }  ///< b

 private:
  std::vector<Column> columns_;
  std::vector<double> rows_;
};

struct SignedSolution {
  /// Between the optima, no vertex: rows hold within 1e-7 of the larger of b and 1.
  std::vector<double> x;
  double value = 0.0;  ///< v x
  double bound = 0.0;  ///< that the prices prove: no feasible x has more; rounding 1e-12
};

/// Solves the program by Berth's interior point method. O(rows^3 + entries x column length) an
/// iteration, about 25 iterations. @pre a PetscSession lives
SignedSolution solve(const SignedProgram& program);

}  // namespace berth::solver
