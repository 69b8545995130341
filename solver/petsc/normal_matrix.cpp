// SPDX-License-Identifier: Apache-2.0
#include "normal_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/assert.hpp"

namespace berth::solver {

NormalMatrix::NormalMatrix(std::size_t rows) : rows_(rows), lower_(rows * rows), cholesky_(rows) {}

bool NormalMatrix::factor() {
  double shift = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < rows_; ++i) largest = std::max(largest, lower_[i * rows_ + i]);
  if (!std::isfinite(largest)) return false;
  for (int attempt = 0; attempt < 6; ++attempt) {
    if (cholesky_.factor(lower_, shift)) return true;
    shift = shift == 0.0 ? 1e-14 * largest : 100.0 * shift;
  }
  return false;
}

/// from -= M x, from the lower triangle. Two columns at a time: their sums are independent.
void NormalMatrix::subtract_image(std::span<const double> x, std::span<double> from) const {
  std::size_t j = 0;
  for (; j + 1 < rows_; j += 2) {
    const double* a = &lower_[j * rows_];
    const double* b = a + rows_;
    double sum_a = a[j] * x[j] + a[j + 1] * x[j + 1];
    double sum_b = a[j + 1] * x[j] + b[j + 1] * x[j + 1];
    for (std::size_t i = j + 2; i < rows_; ++i) {
      from[i] -= a[i] * x[j] + b[i] * x[j + 1];
      sum_a += a[i] * x[i];
      sum_b += b[i] * x[i];
    }
    from[j] -= sum_a;
    from[j + 1] -= sum_b;
  }
  if (j < rows_) from[j] -= lower_[j * rows_ + j] * x[j];
}

bool NormalMatrix::solve(std::span<double> right) {
  BERTH_EXPECT(right.size() == rows_);
  std::vector<double> residual(right.begin(), right.end());
  if (!cholesky_.solve(right)) return false;
  subtract_image(right, residual);
  if (!cholesky_.solve(residual)) return false;
  for (std::size_t i = 0; i < rows_; ++i) right[i] += residual[i];
  return true;
}

}  // namespace berth::solver
