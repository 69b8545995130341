// SPDX-License-Identifier: Apache-2.0
#include "tiled_cholesky.hpp"

#include "petsc.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "berth/base/error.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::solver {
namespace {

/// columns that a substitution takes at a time (docs/decisions/0011)
constexpr std::size_t kAtOnce = 4;

void require(PetscErrorCode code) {
  if (code != 0) throw SystemError("PETSc: error " + std::to_string(code) + " in dense algebra");
}

}  // namespace

TiledCholesky::TiledCholesky(std::size_t rows)
    : rows_(rows), tiles_((rows + kTile - 1) / kTile), ld_(tiles_ * kTile), l_(ld_ * ld_) {}

TiledCholesky::~TiledCholesky() { MatDestroy(&diagonal_); }

void TiledCholesky::copy_in(std::span<const double> lower, double shift) {
  for (std::size_t j = 0; j < rows_; ++j) {
    std::copy_n(&lower[j * rows_ + j], rows_ - j, &l_[j * ld_ + j]);
    std::fill_n(&l_[j * ld_ + rows_], ld_ - rows_, 0.0);
    l_[j * ld_ + j] += shift;
  }
  for (std::size_t j = rows_; j < ld_; ++j) {
    std::fill_n(&l_[j * ld_ + j], ld_ - j, 0.0);
    l_[j * ld_ + j] = 1.0;
  }
}

bool TiledCholesky::factor_diagonal(std::size_t k) {
  constexpr auto n = static_cast<PetscInt>(kTile);
  if (diagonal_ == nullptr) {
    require(MatCreateSeqDense(PETSC_COMM_SELF, n, n, nullptr, &diagonal_));
  } else {
    require(MatSetUnfactored(diagonal_));
  }
  PetscScalar* a = nullptr;
  require(MatDenseGetArrayWrite(diagonal_, &a));
  for (std::size_t j = 0; j < kTile; ++j) std::copy_n(tile(k, k) + j * ld_, kTile, a + j * kTile);
  require(MatDenseRestoreArrayWrite(diagonal_, &a));
  require(MatAssemblyBegin(diagonal_, MAT_FINAL_ASSEMBLY));
  require(MatAssemblyEnd(diagonal_, MAT_FINAL_ASSEMBLY));
  // else PETSc calls dsytrf, at twice the cost
  require(MatSetOption(diagonal_, MAT_SPD, PETSC_TRUE));
  if (MatCholeskyFactor(diagonal_, nullptr, nullptr) != 0) {
    require(MatDestroy(&diagonal_));  // half written
    return false;
  }
  const PetscScalar* factored = nullptr;
  require(MatDenseGetArrayRead(diagonal_, &factored));
  for (std::size_t j = 0; j < kTile; ++j) {
    std::copy_n(factored + j * kTile + j, kTile - j, tile(k, k) + j * ld_ + j);
  }
  require(MatDenseRestoreArrayRead(diagonal_, &factored));
  return true;
}

/// Computes the tiles below the k-th on the diagonal; the first of them then updates the next
/// diagonal tile.
void TiledCholesky::column_of_tiles(std::size_t k) {
  parallel::run_tasks(tiles_ - k - 1, [&](std::size_t below) {
    const std::size_t i = k + 1 + below;
    subtract_product(tile(i, k), tile(i, 0), tile(k, 0), k * kTile, ld_, TilePart::full);
    divide_by_lower(tile(i, k), tile(k, k), ld_);
    if (below > 0) return;
    subtract_product(tile(i, i), tile(i, 0), tile(i, 0), i * kTile, ld_, TilePart::lower);
  });
}

bool TiledCholesky::factor(std::span<const double> lower, double shift) {
  copy_in(lower, shift);
  for (std::size_t k = 0; k < tiles_; ++k) {
    if (!factor_diagonal(k)) return false;
    column_of_tiles(k);
  }
  return true;
}

bool TiledCholesky::solve(std::span<double> y) const {
  std::vector<double> v(y.begin(), y.end());
  v.resize(ld_, 0.0);
  for (std::size_t first = 0; first < ld_; first += kAtOnce) {
    const double* l = &l_[first * ld_];
    double* const at = &v[first];
    for (std::size_t j = 0; j < kAtOnce; ++j) {
      for (std::size_t k = 0; k < j; ++k) at[j] -= l[k * ld_ + first + j] * at[k];
      at[j] /= l[j * ld_ + first + j];
    }
    for (std::size_t i = first + kAtOnce; i < ld_; ++i) {
      v[i] -= l[i] * at[0] + l[ld_ + i] * at[1] + l[2 * ld_ + i] * at[2] + l[3 * ld_ + i] * at[3];
    }
  }
  for (std::size_t end = ld_; end > 0; end -= kAtOnce) {
    const std::size_t first = end - kAtOnce;
    const double* l = &l_[first * ld_];
    double sum[kAtOnce] = {};
    for (std::size_t i = end; i < ld_; ++i) {
      for (std::size_t j = 0; j < kAtOnce; ++j) sum[j] += l[j * ld_ + i] * v[i];
    }
    for (std::size_t j = kAtOnce; j-- > 0;) {
      for (std::size_t k = j + 1; k < kAtOnce; ++k) sum[j] += l[j * ld_ + first + k] * v[first + k];
      v[first + j] = (v[first + j] - sum[j]) / l[j * ld_ + first + j];
    }
  }
  std::copy_n(v.begin(), rows_, y.begin());
  return std::ranges::all_of(y, [](double value) { return std::isfinite(value); });
}

}  // namespace berth::solver
