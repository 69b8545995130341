// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../petsc/interior_point.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// A basic solution of a linear program, with the prices of its basis (not dual feasible: they
/// may be negative).
struct BasicSolution {
  std::vector<double> x;      ///< by column; at most `rows` of them positive
  std::vector<double> price;  ///< by row
  int pivots = 0;
};

/// Walks from a (nearly) feasible x to a vertex whose value is not smaller, but for x below
/// `drop_tolerance`, which are set to 0 first: from the basis of slacks, one positive column after
/// the other, largest first, is pushed up or down until it is 0 or enters the basis (the push phase
/// of Megiddo 1991; Bixby and Saltzman 1994). O(columns with x > 0 x rows^2) at worst.
BasicSolution crossover(const LinearProgram& lp, std::span<const double> x,
                        double drop_tolerance = 0.005);

}  // namespace berth::solver
