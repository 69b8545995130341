// SPDX-License-Identifier: Apache-2.0
#include "crossover.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace berth::solver {
namespace {

constexpr double kTiny = 1e-9;  ///< smaller pivots and reduced costs count as 0; untuned guard

/// x without entries below `drop_tolerance`, scaled down until every row holds.
std::vector<double> feasible(const LinearProgram& lp, std::span<const double> from,
                             double drop_tolerance) {
  std::vector<double> x(from.begin(), from.end());
  for (double& v : x) v = v < drop_tolerance ? 0.0 : v;
  std::vector<double> load(lp.rows(), 0.0);
  for (std::size_t j = 0; j < x.size(); ++j) {
    for (std::size_t k = lp.start[j]; k < lp.start[j + 1]; ++k) {
      load[static_cast<std::size_t>(lp.row[k])] += lp.coefficient[k] * x[j];
    }
  }
  double scale = 1.0;
  for (std::size_t i = 0; i < lp.rows(); ++i) {
    if (load[i] > lp.rhs[i]) scale = std::min(scale, lp.rhs[i] / load[i]);
  }
  for (double& v : x) v *= scale;
  return x;
}

/// A basis with its dense inverse B^-1. The slack of row i is variable -1 - i.
class Basis {
 public:
  Basis(const LinearProgram& lp, std::vector<double> x)
      : lp_(lp),
        m_(lp.rows()),
        x_(std::move(x)),
        inverse_(m_ * m_),
        basic_(m_),
        level_(lp.rhs),
        price_(m_, 0.0) {
    for (std::size_t i = 0; i < m_; ++i) {
      inverse_[i * m_ + i] = 1.0;
      basic_[i] = -1 - static_cast<std::int64_t>(i);
    }
    for (std::size_t j = 0; j < x_.size(); ++j) {
      for (std::size_t k = lp.start[j]; k < lp.start[j + 1]; ++k) {
        level_[static_cast<std::size_t>(lp.row[k])] -= lp.coefficient[k] * x_[j];
      }
    }
    for (double& l : level_) l = std::max(l, 0.0);
  }

  /// Moves column j until it is 0 or enters the basis, in the direction that loses no value.
  void push(std::size_t j) {
    column(j);
    const double gain = lp_.value[j] - lp_.cost(j, price_);
    if (gain >= 0.0) {
      const auto [row, step] = ratio(1.0, std::numeric_limits<double>::infinity());
      if (row < m_) return enter(j, row, step);
    }
    const auto [row, step] = ratio(-1.0, x_[j]);
    if (row == m_) {
      shift(-x_[j]);
      x_[j] = 0.0;
    } else {
      enter(j, row, -step);
    }
  }

  BasicSolution result() {
    for (std::size_t i = 0; i < m_; ++i) {
      if (basic_[i] >= 0) x_[static_cast<std::size_t>(basic_[i])] = std::max(level_[i], 0.0);
    }
    return {std::move(x_), std::move(price_), pivots_};
  }

 private:
  /// column_ = B^-1 a_j
  void column(std::size_t j) {
    column_.assign(m_, 0.0);
    for (std::size_t k = lp_.start[j]; k < lp_.start[j + 1]; ++k) {
      const double* from = &inverse_[static_cast<std::size_t>(lp_.row[k]) * m_];
      for (std::size_t i = 0; i < m_; ++i) column_[i] += lp_.coefficient[k] * from[i];
    }
  }

  /// Ratio test: the first row whose basic variable reaches 0 when the column moves by
  /// `sign` x step, and that step; row m_ when no row does before `most`. Ties: largest pivot, then
  /// lowest row.
  std::pair<std::size_t, double> ratio(double sign, double most) const {
    std::size_t row = m_;
    double step = most;
    for (std::size_t i = 0; i < m_; ++i) {
      const double a = sign * column_[i];
      if (a <= kTiny) continue;
      const double here = level_[i] / a;
      const bool equal = row < m_ && std::abs(here - step) <= 1e-12;
      if (equal ? a > sign * column_[row] : here < step) {
        row = i;
        step = here;
      }
    }
    return {row, step};
  }

  void shift(double by) {
    for (std::size_t i = 0; i < m_; ++i) level_[i] = std::max(level_[i] - by * column_[i], 0.0);
  }

  void enter(std::size_t j, std::size_t row, double by) {
    shift(by);
    if (basic_[row] >= 0) x_[static_cast<std::size_t>(basic_[row])] = 0.0;
    const double gain = lp_.value[j] - lp_.cost(j, price_);
    const double pivot = column_[row];
    for (std::size_t k = 0; k < m_; ++k) {
      double* c = &inverse_[k * m_];
      if (c[row] == 0.0) continue;
      const double t = c[row] / pivot;
      for (std::size_t i = 0; i < m_; ++i) c[i] -= column_[i] * t;
      c[row] = t;
      price_[k] += gain * t;
    }
    basic_[row] = static_cast<std::int64_t>(j);
    level_[row] = x_[j] + by;
    ++pivots_;
  }

  const LinearProgram& lp_;
  std::size_t m_;
  std::vector<double> x_;
  std::vector<double> inverse_;  ///< column k at [k m, (k + 1) m)
  std::vector<std::int64_t> basic_;
  std::vector<double> level_;  ///< by row: value of its basic variable
  std::vector<double> price_;
  std::vector<double> column_;
  int pivots_ = 0;
};

}  // namespace

BasicSolution crossover(const LinearProgram& lp, std::span<const double> x, double drop_tolerance) {
  Basis basis(lp, feasible(lp, x, drop_tolerance));
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t j = 0; j < x.size(); ++j) {
    if (x[j] >= drop_tolerance && x[j] > 0.0) order.emplace_back(-x[j], j);
  }
  std::ranges::sort(order);
  for (const auto& [amount, j] : order) basis.push(j);
  return basis.result();
}

}  // namespace berth::solver
