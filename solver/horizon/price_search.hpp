// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/smoothed_dual.hpp"

#include "berth/base/stop.hpp"

namespace berth::solver::horizon_plan {

struct SearchLength {
  int iterations = 40;  ///< most
  /// BlmvmOptions::memory. For a few steps PETSc's own is enough, and it starts faster.
  int memory = 20;
  /// About how far the dual may fall, where known: the first step is as long as suits that. 0: as
  /// PETSc chooses, which for prices of a GPU-second is some 12 evaluations too long.
  double fall = 0.0;
};

/// Minimises the dual at one temperature over x = ends x sqrt(capacity of the unknown / mean),
/// which gives long and short intervals a similar curvature. `ends` is the start, then the best
/// prices seen. Returns the number of evaluations.
/// @pre a PetscSession exists; main thread
int minimise_at(const SmoothedDual& dual, double temperature, EndPrices& ends,
                const SearchLength& length, const StopToken& stop);

}  // namespace berth::solver::horizon_plan
