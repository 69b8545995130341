// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tile_kernels.hpp"

#include <cstddef>
#include <span>
#include <vector>

struct _p_Mat;  // PETSc's dense matrix

namespace berth::solver {

/// Dense Cholesky factorisation M = L L' by tiles: PETSc factors the tiles on the diagonal, tasks
/// compute those below, one column of tiles after the other. Equal bits for any number of threads.
/// Only the calling thread calls PETSc.
class TiledCholesky {
 public:
  explicit TiledCholesky(std::size_t rows);
  ~TiledCholesky();
  TiledCholesky(const TiledCholesky&) = delete;
  TiledCholesky& operator=(const TiledCholesky&) = delete;

  /// @param lower column-major rows x rows, lower triangle used
  /// @param shift added to the diagonal
  /// @return false on a bad pivot. O(rows^3).
  bool factor(std::span<const double> lower, double shift);

  /// y := M^-1 y. @pre factored. @return false when the result is not finite. O(rows^2).
  bool solve(std::span<double> y) const;

 private:
  void copy_in(std::span<const double> lower, double shift);
  bool factor_diagonal(std::size_t k);
  void column_of_tiles(std::size_t k);
  [[nodiscard]] double* tile(std::size_t i, std::size_t j) {
    return &l_[j * kTile * ld_ + i * kTile];
  }

  std::size_t rows_;
  std::size_t tiles_;  ///< tiles along one side
  std::size_t ld_;     ///< leading dimension: rows, padded to whole tiles
  std::vector<double> l_;
  _p_Mat* diagonal_ = nullptr;  ///< one tile
};

}  // namespace berth::solver
