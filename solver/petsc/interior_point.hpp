// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "linear_program.hpp"

#include <cstdint>

#include "berth/base/stop.hpp"

namespace berth::solver {

enum class SolveStatus : std::uint8_t { optimal, iteration_limit, numerical_trouble };

struct InteriorPointResult {
  SolveStatus status = SolveStatus::optimal;
  int iterations = 0;
};

struct InteriorPointOptions {
  double tolerance = 1e-6;  ///< absolute error of the objective
  int iterations = 80;      ///< upper limit
  StopToken stop = {};      ///< asked before each iteration; ends as the limit does
};

/// Mehrotra's predictor-corrector (SIAM J. Optim. 2, 1992) on dense normal equations, factored in
/// place by PETSc. Moves `point` from any positive start to one whose objective is within
/// `tolerance` of the optimum. Columns that a row with rhs 0 holds at zero are left out: their x
/// and reduced cost become 0. @pre a PetscSession lives; point has the sizes of lp
/// O(rows^3 + entries x column length) an iteration.
InteriorPointResult solve(const LinearProgram& lp, PrimalDualPoint& point,
                          const InteriorPointOptions& options);

}  // namespace berth::solver
