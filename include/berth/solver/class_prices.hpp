// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/horizon/problem.hpp"
#include "berth/solver/horizon_bound.hpp"

namespace berth::solver {

struct ClassPriceOptions {
  int intervals = 12;         ///< of each price curve; 4 .. 128
  double temperature = 1e-4;  ///< as HorizonBoundOptions::temperatures
  int iterations = 6;         ///< most iterations of the minimiser
};

/// Prices of GPU time as `bound_horizon` finds them, in a short search of fixed length: where jobs
/// that are alike stand for one another, it costs the same for any number of jobs.
///
/// @param classes  a job is a class: GPUs and weights of its members added, their mean durations.
///                 It may ask for more GPUs than there are
/// @param pieces   the same GPU-time in jobs that fit the pools. Their WSPT plan gives grid and
///                 first prices
/// The result's bound is that of `classes`; its list cost is that of `pieces`.
/// O(pieces log pieces + evaluations x classes x intervals). Equal bits on any number of threads.
/// @pre a PetscSession exists; main thread; both problems have at least one job, and no quotas,
/// budgets or dependencies
HorizonBound price_classes(const berth::horizon::Problem& classes,
                           const berth::horizon::Problem& pieces,
                           const ClassPriceOptions& options = {});

}  // namespace berth::solver
