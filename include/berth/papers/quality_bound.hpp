// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

/// What no scheduler of malleable jobs on one pool of cores can beat, one that knows all arrivals
/// and loss curves too. Both relax the pool to a machine that works on one job at a time with all
/// its cores: whole cores, epochs and the most cores of a job only make it slower.
namespace berth::papers {

/// Work and what it earns, in order.
struct FluidPiece {
  double work = 0.0;   ///< core-seconds, > 0
  double value = 0.0;  ///< >= 0; a part of the piece earns its part of the value
};

struct FluidJob {
  double release = 0.0;  ///< seconds
  std::vector<FluidPiece> pieces;
};

/// Least sum over jobs of the integral over time, from release on, of the value not yet earned.
///
/// A piece of more value per work than those before it is joined with them (the upper concave
/// envelope of value by work, which earns no less at any work); then the machine always works on
/// the available piece with the largest value per work. This earns at every time at least as much
/// as any other order, release by release, as pieces of a job come in falling density.
/// @pre cores > 0, ascending release  O(pieces log jobs)
[[nodiscard]] double least_unearned(std::span<const FluidJob> jobs, double cores);

/// Least sum over jobs of the time from release to the end of all its pieces: shortest remaining
/// work first, which is optimal on one machine with preemption (Schrage 1968). A job with at most
/// `most` cores takes at least its work / most; the larger of both sums is returned.
/// @pre 0 < most <= cores, ascending release  O(jobs log jobs)
[[nodiscard]] double least_flow(std::span<const FluidJob> jobs, double cores, double most);

}  // namespace berth::papers
