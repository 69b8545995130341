// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/signed_program.hpp"

#include "interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/infinity.hpp"

namespace berth::solver {
namespace {

constexpr double kTolerance = 1e-8;  ///< of the interior point method; values near 1

/// Values in parts of the largest one, rows with a right-hand side in parts of it.
LinearProgram scaled(const SignedProgram& program, double scale) {
  LinearProgram lp;
  for (const double most : program.rows()) lp.rhs.push_back(most > 0.0 ? 1.0 : 0.0);
  lp.max_sum = 0.0;
  std::vector<std::pair<std::int32_t, double>> entries;
  for (const SignedProgram::Column& column : program.columns()) {
    entries.clear();
    for (const auto& [row, a] : column.entries) {
      const double most = program.rows()[row];
      entries.emplace_back(static_cast<std::int32_t>(row), most > 0.0 ? a / most : a);
    }
    lp.add_column(column.value / scale, entries);
    lp.max_sum += column.upper;
  }
  return lp;
}

/// What prices of the rows prove: rents of the rows, and columns that pay more than theirs at u.
double proved(const SignedProgram& program, std::span<const double> price) {
  double bound = 0.0;
  for (std::size_t i = 0; i < price.size(); ++i) bound += price[i] * program.rows()[i];
  for (const SignedProgram::Column& column : program.columns()) {
    double reduced = column.value;
    for (const auto& [row, a] : column.entries) reduced -= a * price[row];
    bound += std::max(reduced, 0.0) * column.upper;
  }
  return bound;
}

}  // namespace

std::size_t SignedProgram::add_row(double most) {
  BERTH_EXPECT(most >= 0.0 && most < kInfinity);
  rows_.push_back(most);
  return rows_.size() - 1;
}

std::size_t SignedProgram::add_column(Column column) {
  for (const auto& [row, a] : column.entries) BERTH_EXPECT(row < rows_.size() && std::isfinite(a));
  BERTH_EXPECT(column.upper > 0.0 && column.upper < kInfinity && std::isfinite(column.value));
  columns_.push_back(std::move(column));
  return columns_.size() - 1;
}

SignedSolution solve(const SignedProgram& program) {
  double scale = 0.0;
  for (const auto& column : program.columns()) scale = std::max(scale, std::abs(column.value));
  SignedSolution solution{.x = std::vector<double>(program.columns().size(), 0.0)};
  if (scale <= 0.0) return solution;
  const LinearProgram lp = scaled(program, scale);
  PrimalDualPoint point = starting_point(lp);
  solve(lp, point, {.tolerance = kTolerance});
  for (std::size_t j = 0; j < solution.x.size(); ++j) {
    solution.x[j] = std::max(point.x[j], 0.0);
    solution.value += program.columns()[j].value * solution.x[j];
  }
  for (std::size_t i = 0; i < point.price.size(); ++i) {
    const double most = program.rows()[i];
    point.price[i] = std::max(point.price[i], 0.0) * scale / (most > 0.0 ? most : 1.0);
  }
  solution.bound = proved(program, point.price);
  return solution;
}

}  // namespace berth::solver
