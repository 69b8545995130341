// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/certify/bound.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/model/gap_parts.hpp"
#include "berth/model/plan.hpp"

namespace berth::certify {

/// Why the bound is above the plan, job by job and machine by machine. With c_j = what job j's
/// tasks pay where they lie, and the terms of bound.hpp,
///   UB - plan = sum_j [best_j - (u_j - c_j)]          regret of placed jobs, best_j of the others
///             + sum_p [N_p mu_p - prices paid in p]   idle capacity at its price
/// A job with a price of its own that waits regrets that price; placed, its u_j less the price
/// fills the machines of its type. Where the values' sum or the capacity is the smaller bound, all
/// prices count as 0: regret only, or GPU thousandths not allocated only.
/// O(upper_bound + tasks). Regrets and idle amounts are never negative.
/// @pre `figures` are those of the placement and certificate; as for certify::figures
model::GapParts gap_parts(const model::Instance& instance, model::Objective kind,
                          const model::Placement& placement, const model::Certificate& certificate,
                          const model::Figures& figures);

/// A certificate's bound for the required jobs placed, and what it is made of.
struct Proved {
  const Bound& bound;
  const JobBests& bests;  ///< of model::planned_jobs
};
/// The same, where these are known.
model::GapParts gap_parts(const model::Instance& instance, model::Objective kind,
                          const model::Placement& placement, const model::Certificate& certificate,
                          const model::Figures& figures, const Proved& proved);

}  // namespace berth::certify
