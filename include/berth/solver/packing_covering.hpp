// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/infinity.hpp"

namespace berth::solver {

/// Mixed packing and covering program with sparse columns:
///
///   min c x   subject to  A x >= a,  B x <= b,  0 <= x <= u,  with A, B, a, b, u >= 0
///
/// Costs may be negative where a packing row or u limits the variable.
class PackingCoveringProgram {
 public:
  struct Entry {
    std::size_t row;
    double coefficient;  ///< >= 0
  };
  struct Column {
    double cost = 0.0;
    std::vector<Entry> covering, packing;
    double upper = kInfinity;
  };

  /// Index of the new row A x >= least. @pre 0 <= least, finite
  std::size_t add_covering_row(double least);
  /// Index of the new row B x <= most. @pre 0 <= most, finite
  std::size_t add_packing_row(double most);
  /// Index of the new variable. @pre its rows exist, each at most once; a negative cost has a limit
  std::size_t add_column(Column column);

  [[nodiscard]] std::span<const Column> columns() const { return columns_; }
  [[nodiscard]] std::span<const double> covering() const { return covering_; }  ///< a, by row
  [[nodiscard]] std::span<const double> packing() const { return packing_; }    ///< b, by row

 private:
  std::vector<Column> columns_;
  std::vector<double> covering_, packing_;
};

enum class PackingCoveringStatus : std::uint8_t {
  optimal,     ///< cost and bound differ by less than 1e-6 of the scale of the costs
  infeasible,  ///< proved: no x covers more than 1 - 1e-7 of every covering row
  inaccurate,  ///< x may be wanting; `bound` holds
};

struct PackingCoveringSolution {
  PackingCoveringStatus status = PackingCoveringStatus::inaccurate;
  /// A basic solution: as many positive values as rows at most, and between 0 and u strictly at
  /// most as many as covering and packing rows. Rows hold within 1e-7 of their right-hand side.
  std::vector<double> x;
  double cost = 0.0;          ///< c x
  double bound = -kInfinity;  ///< that the prices prove: no feasible x costs less; rounding 1e-12
  std::vector<double> covering_price, packing_price;  ///< by row, >= 0: those of the bound
};

/// Solves the program by Berth's interior point method and a crossover. The share s of the covering
/// demand that x meets is a variable too, with a high value and s <= 1: rows A x >= a s leave all
/// right-hand sides non-negative. Packing rows that another implies are left out.
/// O(rows^3 + entries x column length) an iteration, about 20 iterations.
/// @pre a PetscSession lives
PackingCoveringSolution solve(const PackingCoveringProgram& program);

}  // namespace berth::solver
