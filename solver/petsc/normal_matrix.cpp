// SPDX-License-Identifier: Apache-2.0
#include "normal_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"

namespace berth::solver {
namespace {

void require(PetscErrorCode code) {
  if (code != 0) throw SystemError("PETSc: error " + std::to_string(code) + " in dense algebra");
}

}  // namespace

NormalMatrix::NormalMatrix(std::size_t rows) : rows_(rows), lower_(rows * rows) {
  const auto n = static_cast<PetscInt>(rows);
  require(VecCreateSeq(PETSC_COMM_SELF, n, &right_));
  require(VecCreateSeq(PETSC_COMM_SELF, n, &solution_));
}

NormalMatrix::~NormalMatrix() {
  drop();
  VecDestroy(&right_);
  VecDestroy(&solution_);
}

void NormalMatrix::drop() { MatDestroy(&matrix_); }

bool NormalMatrix::factor() {
  double shift = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < rows_; ++i) largest = std::max(largest, lower_[i * rows_ + i]);
  if (!std::isfinite(largest)) return false;
  for (int attempt = 0; attempt < 6; ++attempt) {
    if (try_factor(shift)) return true;
    drop();  // a failed factorisation leaves the matrix half written
    shift = shift == 0.0 ? 1e-14 * largest : 100.0 * shift;
  }
  return false;
}

bool NormalMatrix::try_factor(double shift) {
  const auto n = static_cast<PetscInt>(rows_);
  if (matrix_ == nullptr) {
    require(MatCreateSeqDense(PETSC_COMM_SELF, n, n, nullptr, &matrix_));
  } else {
    require(MatSetUnfactored(matrix_));
  }
  PetscScalar* a = nullptr;
  require(MatDenseGetArrayWrite(matrix_, &a));
  std::ranges::copy(lower_, a);
  for (std::size_t i = 0; i < rows_; ++i) a[i * rows_ + i] += shift;
  require(MatDenseRestoreArrayWrite(matrix_, &a));
  require(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
  require(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
  require(MatSetOption(matrix_, MAT_SPD, PETSC_TRUE));  // else dsytrf, at twice the cost
  return MatCholeskyFactor(matrix_, nullptr, nullptr) == 0;
}

/// y := solution for right side `right`.
bool NormalMatrix::substitute(std::span<const double> right, std::span<double> y) {
  PetscScalar* to = nullptr;
  require(VecGetArrayWrite(right_, &to));
  std::ranges::copy(right, to);
  require(VecRestoreArrayWrite(right_, &to));
  if (MatSolve(matrix_, right_, solution_) != 0) return false;
  const PetscScalar* from = nullptr;
  require(VecGetArrayRead(solution_, &from));
  std::copy_n(from, rows_, y.begin());
  require(VecRestoreArrayRead(solution_, &from));
  return std::ranges::all_of(y, [](double v) { return std::isfinite(v); });
}

bool NormalMatrix::solve(std::span<double> right) {
  BERTH_EXPECT(right.size() == rows_);
  std::vector<double> residual(right.begin(), right.end());
  std::vector<double> correction(rows_);
  if (!substitute(residual, right)) return false;
  for (std::size_t j = 0; j < rows_; ++j) {  // residual -= M right, by the lower triangle
    const double* column = &lower_[j * rows_];
    double sum = column[j] * right[j];
    for (std::size_t i = j + 1; i < rows_; ++i) {
      residual[i] -= column[i] * right[j];
      sum += column[i] * right[i];
    }
    residual[j] -= sum;
  }
  if (!substitute(residual, correction)) return false;
  for (std::size_t i = 0; i < rows_; ++i) right[i] += correction[i];
  return true;
}

}  // namespace berth::solver
