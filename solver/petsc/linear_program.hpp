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
  double max_sum = 1.0;       ///< upper bound on the sum of any feasible x

  [[nodiscard]] std::size_t columns() const { return value.size(); }
  [[nodiscard]] std::size_t rows() const { return rhs.size(); }
  void add_column(double worth, std::span<const std::pair<std::int32_t, double>> entries);
  /// sum_i a_ij y_i
  [[nodiscard]] double cost(std::size_t column, std::span<const double> y) const {
    double sum = 0.0;
    for (std::size_t k = start[column]; k < start[column + 1]; ++k) {
      sum += coefficient[k] * y[static_cast<std::size_t>(row[k])];
    }
    return sum;
  }
};

/// A strictly interior point: x, slack, price > 0, and reduced = A'price - value if price is
/// feasible for the dual. Start and result of `solve`.
struct PrimalDualPoint {
  std::vector<double> x;        ///< by column
  std::vector<double> reduced;  ///< by column, z
  std::vector<double> slack;    ///< by row, s
  std::vector<double> price;    ///< by row, y
};

/// A start for any such program: x satisfies every row with non-negative entries.
PrimalDualPoint starting_point(const LinearProgram& lp);

}  // namespace berth::solver
