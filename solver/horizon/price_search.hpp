// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/smoothed_dual.hpp"

#include "berth/base/stop.hpp"

namespace berth::solver::horizon_plan {

struct SearchLength {
  int iterations = 40;  ///< most
  /// BlmvmOptions::memory. For a few steps PETSc's own is enough, and it starts faster.
  int memory = 20;
  /// By about how much the dual decreases, where known: the first step has the length for that. 0:
  /// unknown. PETSc's own first step is far too long for prices of a GPU-second, and its line
  /// search takes some 12 evaluations to shorten it.
  double expected_decrease = 0.0;
};

/// Minimises the dual at one temperature over x = ends x sqrt(capacity of the unknown / mean),
/// which gives long and short intervals a similar curvature; with `expected_decrease` times a
/// common factor. `ends` is the start, then the best prices seen. Returns the number of
/// evaluations.
/// @pre a PetscSession exists; main thread
int minimise_at(const SmoothedDual& dual, double temperature, EndPrices& ends,
                const SearchLength& length, const StopToken& stop);

}  // namespace berth::solver::horizon_plan
