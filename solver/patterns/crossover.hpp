// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../petsc/interior_point.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// A basic solution of a linear program with the prices of its basis. The prices need not be dual
/// feasible and may be negative.
struct BasicSolution {
  std::vector<double> x;      ///< by column; at most `rows` of them positive
  std::vector<double> price;  ///< by row
  int pivots = 0;
};

/// Moves a (nearly) feasible x to a vertex of no smaller value (push phase of Megiddo 1991; Bixby
/// and Saltzman 1994). Entries below `drop_tolerance` are set to 0 first, which may lose value.
/// From the basis of slacks each positive column, largest first, is pushed up or down until it is 0
/// or enters the basis. O(columns with x > 0 x rows^2) at worst.
/// @param drop_tolerance  in the unit of x, >= 0; chosen, not tuned: RestrictedMaster tries smaller
///                        ones when value is lost
BasicSolution crossover(const LinearProgram& lp, std::span<const double> x,
                        double drop_tolerance = 0.005);

}  // namespace berth::solver
