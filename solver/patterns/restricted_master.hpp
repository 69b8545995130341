// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../petsc/interior_point.hpp"
#include "pattern.hpp"

#include <set>
#include <utility>
#include <vector>

namespace berth::solver {

/// The restricted relaxation: which patterns, how often. Rows: open job types, then bin types with
/// machines; types and bin types without any left have no row.
class RestrictedMaster {
 public:
  RestrictedMaster(const PackingProblem& problem, const ResidualProblem& residual);

  /// Adds patterns whose types and bin type are open and that are not there yet. Returns how many.
  int add(std::vector<MachinePattern> patterns);

  /// Interior point to `tolerance` (scaled value), from the last point when there is one.
  InteriorPointResult solve(double tolerance);

  /// Forgets the last point.
  void restart() { point_ = {}; }

  /// Replaces the point's x by a vertex of (nearly) no smaller value, and its prices by that
  /// basis's.
  void crossover();

  [[nodiscard]] std::size_t rows() const { return lp_.rows(); }
  [[nodiscard]] const std::vector<MachinePattern>& patterns() const { return patterns_; }
  [[nodiscard]] std::vector<MachinePattern> take_patterns() { return std::move(patterns_); }
  /// By pattern; sized to `patterns` (0 for those added since the last solve).
  [[nodiscard]] std::vector<double> usage() const;
  [[nodiscard]] double value() const;
  /// By job type; 0 without a row.
  [[nodiscard]] std::vector<double> type_prices() const;
  /// By bin type.
  [[nodiscard]] std::vector<double> bin_prices() const;

 private:
  void start_cold();
  void start_warm();

  const PackingProblem& problem_;
  std::vector<std::int32_t> row_of_type_;
  std::vector<std::int32_t> row_of_bin_;
  std::size_t type_rows_ = 0;
  LinearProgram lp_;
  PrimalDualPoint point_;
  std::vector<MachinePattern> patterns_;
  std::vector<std::int32_t> column_bin_;  ///< bin type row by column
  std::set<std::pair<std::int32_t, std::vector<TypeCount>>> known_;
};

}  // namespace berth::solver
