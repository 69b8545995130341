// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tiled_cholesky.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace berth::solver {

/// A dense symmetric positive definite system.
class NormalMatrix {
 public:
  explicit NormalMatrix(std::size_t rows);

  /// Column-major, lower triangle used; zeroed. Valid until `factor`.
  std::span<double> entries() { return lower_; }

  /// Factors `entries`; on a bad pivot raises the diagonal and tries again, a few times.
  bool factor();

  /// right := solution, refined once (the system is ill-conditioned near the optimum).
  bool solve(std::span<double> right);

 private:
  void subtract_image(std::span<const double> x, std::span<double> from) const;

  std::size_t rows_;
  std::vector<double> lower_;
  TiledCholesky cholesky_;
};

}  // namespace berth::solver
