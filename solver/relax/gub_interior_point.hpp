// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../petsc/interior_point.hpp"
#include "gub_program.hpp"

#include <vector>

namespace berth::solver {

/// Mehrotra's predictor-corrector (SIAM J. Optim. 2, 1992) with the groups eliminated: the normal
/// equations have the rows only,
///   M = sum_g [ sum_k th_k a_k a_k' - q q' / D ] + diag(s / y),  th = x / z,  q = sum_k th_k a_k,
///   D = sum_k th_k + unused / earned.
/// Moves `point` from any positive start until complementarity and violation are worth at most the
/// tolerance. @pre a PetscSession lives; point has the sizes of the program
/// O(rows^3 + sum over groups (its columns + its rows) x its rows) an iteration.
InteriorPointResult solve(const GubProgram& program, GubPoint& point,
                          const InteriorPointOptions& options);

/// A point near the central path at `mu`, from any row prices > 0: damped Newton steps on the
/// logarithmic barrier of the dual, a smooth function of the row prices,
///   sum_g [ N_g l_g - mu sum_k log(l_g + a_k y - v_k) - mu log l_g ] - mu sum_i log y_i
/// with every group's price l_g at its minimum. Ends early after `most` of them,
/// and at a stop.
struct CentredPoint {
  GubPoint point;
  int steps = 0;
};
CentredPoint centred_point(const GubProgram& program, std::vector<double> price, double mu,
                           int most, const StopToken& stop = {});

/// sum_j value_j x_j
double value_of(const GubProgram& program, const GubPoint& point);

}  // namespace berth::solver
