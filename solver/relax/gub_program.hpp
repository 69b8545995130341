// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace berth::solver {

/// max value x  subject to  A x <= 0,  sum of x over each group <= its limit,  x >= 0.
/// The groups are disjoint and cover all columns (generalised upper bounds: Dantzig and Van Slyke
/// 1967). Columns are sparse and stored group by group.
struct GubProgram {
  std::size_t rows = 0;
  std::vector<double> limit;                 ///< by group, > 0
  std::vector<std::size_t> first_column{0};  ///< group g: [first_column[g], first_column[g + 1])
  std::vector<double> value;                 ///< by column
  std::vector<std::size_t> first_entry{0};   ///< column j: [first_entry[j], first_entry[j + 1])
  std::vector<std::int32_t> row;             ///< by entry
  std::vector<double> coefficient;           ///< by entry

  [[nodiscard]] std::size_t groups() const { return limit.size(); }
  [[nodiscard]] std::size_t columns() const { return value.size(); }
  /// Ends the current group; later columns are of the next one.
  void end_group(double group_limit);
  /// Appends a column to the current group.
  void add_column(double worth, std::span<const std::pair<std::int32_t, double>> entries);
  /// sum_i a_ij y_i
  [[nodiscard]] double cost(std::size_t column, std::span<const double> y) const {
    double sum = 0.0;
    for (std::size_t k = first_entry[column]; k < first_entry[column + 1]; ++k) {
      sum += coefficient[k] * y[static_cast<std::size_t>(row[k])];
    }
    return sum;
  }
};

/// A strictly interior point: all entries > 0.
struct GubPoint {
  std::vector<double> x;        ///< by column
  std::vector<double> reduced;  ///< by column: group price + A'price - value
  std::vector<double> unused;   ///< by group: limit - sum of x
  std::vector<double> earned;   ///< by group: its dual price
  std::vector<double> slack;    ///< by row
  std::vector<double> price;    ///< by row
};

/// The point at given row prices where every complementary product is `mu` and the dual constraints
/// and the limits of the groups hold. Rows may be violated: on the central path they hold too.
/// @param price  > 0
GubPoint central_point(const GubProgram& program, std::span<const double> price, double mu);

}  // namespace berth::solver
