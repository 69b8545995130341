// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace berth::solver {

/// max value x  subject to  A x <= rhs, x >= 0, with A >= 0 and rhs >= 0: a packing program with
/// sparse columns, built column by column.
struct PackingProgram {
  struct Column {
    double value = 0.0;
    std::vector<std::pair<std::int32_t, double>> entries;  ///< row, amount > 0; not empty
  };

  std::vector<double> rhs;  ///< by row
  std::vector<Column> columns;
};

struct PackingSolution {
  double value = 0.0;
  std::vector<double> x;      ///< by column
  std::vector<double> price;  ///< by row, >= 0
  bool optimal = false;       ///< false: a feasible point, and prices of any quality
};

/// By the interior point method on PETSc. @param tolerance  absolute error of the value
/// @pre a PetscSession lives; main thread. O(rows^3) an iteration, about 20 of them
[[nodiscard]] PackingSolution solve(const PackingProgram& program, double tolerance);

}  // namespace berth::solver
