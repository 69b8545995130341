// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "petsc/interior_point.hpp"

#include <vector>

namespace berth::test {

/// What the reference solver says.
struct ClpOptimum {
  double value = 0.0;
  std::vector<double> price;  ///< by row, >= 0
};

/// Optimum of the program by Clp's dual simplex, tolerances 1e-9. `lp.max_sum` is not looked at.
/// Throws std::runtime_error when Clp does not call its answer optimal.
ClpOptimum clp_optimum(const solver::LinearProgram& lp);

/// The same through Clp's primal simplex, for comparing Clp with itself.
ClpOptimum clp_optimum_primal(const solver::LinearProgram& lp);

}  // namespace berth::test
