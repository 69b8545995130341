// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../petsc/interior_point.hpp"
#include "pattern.hpp"

#include <set>
#include <utility>
#include <vector>

namespace berth::solver {

/// Restricted master of the pattern LP:
///   max sum_j v_j x_j,  sum_j a_ij x_j <= d_i (job types),  sum_{j in p} x_j <= N_p (bin types).
/// Rows are the job types with open demand, then the bin types with supply.
class RestrictedMaster {
 public:
  RestrictedMaster(const PackingProblem& problem, const ResidualProblem& residual);

  /// Adds the new patterns whose job types and bin type all have rows. Returns their number.
  int add(std::vector<MachinePattern> patterns);

  /// Solves by the interior point method to `tolerance` (scaled value), from the last point if any.
  InteriorPointResult solve(double tolerance);

  /// Forgets the last point.
  void restart() { point_ = {}; }

  /// Replaces x by a vertex of no smaller value, but for a relative loss of 2e-6, and the prices by
  /// those of its basis.
  void crossover();

  [[nodiscard]] std::size_t rows() const { return lp_.rows(); }
  [[nodiscard]] const std::vector<MachinePattern>& patterns() const { return patterns_; }
  [[nodiscard]] std::vector<MachinePattern> take_patterns() { return std::move(patterns_); }
  /// Copies by pattern; 0 for patterns added since the last solve.
  [[nodiscard]] std::vector<double> usage() const;
  /// Value of the current point, scaled, rewards included.
  [[nodiscard]] double value() const;
  /// Dual prices by job type, scaled; 0 for types without a row.
  [[nodiscard]] std::vector<double> type_prices() const;
  /// Dual prices by bin type, scaled; 0 for bin types without a row.
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
  std::vector<std::int32_t> column_bin_;  ///< by column: row of its bin type
  std::set<std::pair<std::int32_t, std::vector<TypeCount>>> known_;
};

}  // namespace berth::solver
