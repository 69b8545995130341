// SPDX-License-Identifier: Apache-2.0
#include "packing_lp.hpp"

#include <algorithm>
#include <limits>

#include "berth/base/assert.hpp"

namespace berth::solver {
namespace {

constexpr double kZero = 1e-11;  ///< reduced costs and pivots below it count as 0

/// Rows of the tableau, the last one the objective; columns: those of the problem, slacks, right
/// side.
class Tableau {
 public:
  explicit Tableau(const PackingLp& lp)
      : rows_(lp.limit.size()),
        columns_(lp.columns.size()),
        width_(columns_ + rows_ + 1),
        cell_((rows_ + 1) * width_),
        basis_(rows_) {
    for (std::size_t c = 0; c < columns_; ++c) {
      for (std::size_t r = 0; r < rows_; ++r) at(r, c) = lp.columns[c][r];
      at(rows_, c) = -lp.gain[c];
    }
    for (std::size_t r = 0; r < rows_; ++r) {
      at(r, columns_ + r) = 1.0;
      at(r, width_ - 1) = lp.limit[r];
      basis_[r] = columns_ + r;
    }
  }

  /// One pivot; false at the optimum.
  bool improve() {
    std::size_t entering = 0;
    while (entering + 1 < width_ && at(rows_, entering) >= -kZero) ++entering;
    if (entering + 1 == width_) return false;
    std::size_t leaving = rows_;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < rows_; ++r) {
      if (at(r, entering) <= kZero) continue;
      const double ratio = at(r, width_ - 1) / at(r, entering);
      if (ratio < least || (ratio == least && basis_[r] < basis_[leaving])) {
        least = ratio;
        leaving = r;
      }
    }
    BERTH_EXPECT(leaving < rows_);  // else unbounded
    pivot(leaving, entering);
    return true;
  }

  [[nodiscard]] PackingSolution solution() {
    PackingSolution found;
    found.amount.resize(columns_);
    for (std::size_t r = 0; r < rows_; ++r) {
      if (basis_[r] < columns_) found.amount[basis_[r]] = std::max(0.0, at(r, width_ - 1));
      found.price.push_back(std::max(0.0, at(rows_, columns_ + r)));
    }
    return found;
  }

 private:
  double& at(std::size_t row, std::size_t column) { return cell_[row * width_ + column]; }

  void pivot(std::size_t row, std::size_t column) {
    const double by = at(row, column);
    for (std::size_t c = 0; c < width_; ++c) at(row, c) /= by;
    for (std::size_t r = 0; r <= rows_; ++r) {
      const double factor = at(r, column);
      if (r == row || factor == 0.0) continue;
      for (std::size_t c = 0; c < width_; ++c) at(r, c) -= factor * at(row, c);
    }
    basis_[row] = column;
  }

  std::size_t rows_, columns_, width_;
  std::vector<double> cell_;
  std::vector<std::size_t> basis_;
};

}  // namespace

PackingSolution solve_packing(const PackingLp& lp) {
  Tableau tableau(lp);
  const std::size_t most = 200 * (lp.limit.size() + lp.columns.size() + 1);
  for (std::size_t pivots = 0; pivots < most && tableau.improve(); ++pivots) {
  }
  return tableau.solution();
}

}  // namespace berth::solver
