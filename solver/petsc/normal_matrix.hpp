// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "petsc.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// A dense symmetric positive definite system, factored in place (LAPACK's dpotrf through PETSc).
class NormalMatrix {
 public:
  explicit NormalMatrix(std::size_t rows);
  ~NormalMatrix();
  NormalMatrix(const NormalMatrix&) = delete;
  NormalMatrix& operator=(const NormalMatrix&) = delete;

  /// Column-major, lower triangle used; zeroed. Valid until `factor`.
  std::span<double> entries() { return lower_; }

  /// Factors `entries`; on a bad pivot the diagonal is raised and it tries again, a few times.
  bool factor();

  /// right := solution, refined once (the system is ill-conditioned near the optimum).
  bool solve(std::span<double> right);

 private:
  bool try_factor(double shift);
  bool substitute(std::span<const double> right, std::span<double> y);
  void drop();

  std::size_t rows_;
  std::vector<double> lower_;
  Mat matrix_ = nullptr;
  Vec right_ = nullptr;
  Vec solution_ = nullptr;
};

}  // namespace berth::solver
