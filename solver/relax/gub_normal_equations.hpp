// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../petsc/normal_matrix.hpp"
#include "gub_program.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace berth::solver {

/// Right-hand sides of the Newton equations of a GubProgram, all by its index.
struct GubResiduals {
  std::vector<double> row;     ///< - slack - A x
  std::vector<double> group;   ///< limit - unused - sum of x
  std::vector<double> column;  ///< value + reduced - earned - A'price
  std::vector<double> x;       ///< target of x dz + z dx
  std::vector<double> unused;  ///< target of unused d(earned) + earned d(unused)
  std::vector<double> slack;   ///< target of slack d(price) + price d(slack)
};

/// The Newton equations at a point, with columns and groups eliminated.
class GubNormalEquations {
 public:
  explicit GubNormalEquations(const GubProgram& program)
      : program_(program), matrix_(program.rows), position_(program.rows, -1) {}

  /// Forms and factors the matrix at this point. False when the factorisation fails.
  bool factor(const GubPoint& point);
  /// right := M^-1 right. False when it is not finite. @pre factored
  bool solve(std::span<double> right) { return matrix_.solve(right); }
  /// The direction for these right-hand sides. False when it is not finite. @pre factored here
  bool direction(const GubPoint& point, const GubResiduals& right, GubPoint& d);

 private:
  void add_group(const GubPoint& point, std::size_t g);
  void add_columns(const GubPoint& point, std::size_t g);
  void add_centred(const GubPoint& point, std::size_t g);
  void collect(const GubPoint& point, std::size_t g);
  void add(std::size_t i, std::size_t j, double amount) {
    entries_[std::min(i, j) * program_.rows + std::max(i, j)] += amount;
  }

  const GubProgram& program_;
  NormalMatrix matrix_;
  std::span<double> entries_;
  std::vector<double> diagonal_;  ///< by group, D
  // of the current group:
  double weight_ = 0.0;                 ///< sum of th
  std::vector<std::int32_t> position_;  ///< by row: position in touched_, -1
  std::vector<std::size_t> touched_;    ///< its rows
  std::vector<double> sum_;             ///< q, by position in touched_
  std::vector<double> centred_;
};

}  // namespace berth::solver
