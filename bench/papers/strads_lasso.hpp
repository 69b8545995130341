// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::bench {

/// min 1/2 |y - X beta|^2 + lambda |beta|_1 with unit columns in correlated groups.
struct LassoSetting {
  std::size_t rows = 400, columns = 4'000;
  std::size_t group = 10;    ///< columns that correlate with each other
  double correlation = 0.8;  ///< inside a group
  std::size_t nonzero = 40;  ///< true coefficients
  double lambda = 0.3;
};

class Lasso {
 public:
  Lasso(const LassoSetting& setting, std::uint64_t seed);

  [[nodiscard]] std::size_t columns() const { return setting_.columns; }
  [[nodiscard]] double objective() const;
  /// x_j' x_k.
  [[nodiscard]] double correlation(std::size_t j, std::size_t k) const;
  /// Change of beta_j that minimises over it alone: soft-threshold(beta_j + x_j' r, lambda) -
  /// beta_j.
  [[nodiscard]] double best_change(std::size_t j) const;
  /// How far the objective falls when beta_j changes so, now.
  [[nodiscard]] double gain(std::size_t j, double change) const;
  void change(std::size_t j, double change);
  /// The optimum, by cyclic descent until no coefficient changes by 1e-9; starts at beta 0.
  [[nodiscard]] double optimum() const;

 private:
  [[nodiscard]] std::span<const double> column(std::size_t j) const {
    return std::span(x_).subspan(j * setting_.rows, setting_.rows);
  }

  LassoSetting setting_;
  std::vector<double> x_;  ///< by column
  std::vector<double> residual_, beta_;
};

/// How coefficients are chosen and updated.
struct LassoRule {
  bool importance = false;  ///< by the last change; false: uniformly
  double floor = 1.0;       ///< added to importances, a share of the mean of those above 0
  double dependency = 1.0;  ///< coefficients of a round correlate by less; 1: no check
  bool commits = false;     ///< changes are committed one by one while they keep half their gain
};

struct LassoRun {
  int rounds = 0;  ///< to 1 % above the optimum; the limit when it is not reached
  bool reached = false;
  bool diverged = false;  ///< objective beyond a million times the optimum
  double largest = 0.0;   ///< objective over the optimum, in any round from the second on
  int rises = 0;          ///< rounds that raised the objective
};

/// Rounds of `parallel` coefficients, all changes of a round computed on the same residual.
LassoRun solve_lasso(Lasso lasso, double optimum, const LassoRule& rule, std::size_t parallel,
                     int limit, std::uint64_t seed);

}  // namespace berth::bench
