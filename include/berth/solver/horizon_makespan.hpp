// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/horizon/timeline.hpp"
#include "berth/solver/dual_part.hpp"

namespace berth::solver {

/// No plan completes all jobs before `bound`.
struct MakespanBound {
  horizon::Seconds bound = 0;
  /// Proves it for bound - 1 (`certify::refutes_makespan`); empty where one job alone proves it.
  horizon::PriceCertificate refutation;
};

template <class Archive>
void describe(Archive& archive, MakespanBound& bound) {
  archive(bound.bound, bound.refutation);
}

/// Lower bound on the last completion: the latest of the jobs' earliest completions, each alone, or
/// the largest T that prices refute: the cheapest rents of all jobs that end by T sum to
/// more than the capacity until T is worth. Bisection to 1e-4 of the larger bound.
/// @param upper  last completion of some plan
/// @param ranks  that evaluate parts of the duals; null: this process alone. The same bits on any
/// @pre a PetscSession exists; main thread
MakespanBound bound_makespan(const horizon::Problem& problem, horizon::Seconds upper,
                             const StopToken& stop = {}, DualRanks* ranks = nullptr);

/// The bound over the jobs that a plan of the problem places, and no others.
/// @pre a PetscSession exists; main thread
MakespanBound bound_makespan_of_placed(const horizon::Problem& problem, const horizon::Plan& plan,
                                       const StopToken& stop = {}, DualRanks* ranks = nullptr);

/// Last completion of the placed jobs; Problem::now without any.
horizon::Seconds makespan_of(const horizon::Problem& problem, const horizon::Plan& plan);

struct MakespanSolution {
  horizon::Plan plan;
  MakespanBound bound;  ///< over the jobs that the plan places
};

/// Plan on machines, every GPU named, that completes the last job early: lists by longest duration,
/// by most work and by most GPUs; then reinsertions of jobs that end after a target, which is
/// bisected between the bound and the best plan. Same plan for any number of threads.
/// @pre a PetscSession exists; main thread
MakespanSolution plan_makespan(const horizon::Problem& problem, const StopToken& stop = {},
                               DualRanks* ranks = nullptr);

/// The search goes on from a solution of the problem, by the draws of `seed` > 0: reinsertions
/// towards targets as in plan_makespan. Never later.
void improve_makespan(const horizon::Problem& problem, std::uint64_t seed,
                      MakespanSolution& solution, const StopToken& stop = {});

/// Jobs by longest duration first, then GPUs, then id: each to its earliest completion (Graham
/// 1969).
horizon::Plan longest_first(const horizon::Problem& problem, horizon::Timeline& timeline);

}  // namespace berth::solver
