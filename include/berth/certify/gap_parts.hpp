// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/gap_sums.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/certify/job_subset.hpp"
#include "berth/model/gap_parts.hpp"
#include "berth/model/plan.hpp"

namespace berth::certify {

/// Attributes the gap to jobs and machines. With c_j = the price that job j's tasks pay at their
/// present place, and the terms of bound.hpp,
///   UB - plan = sum_j [best_j - (u_j - c_j)]          regret of placed jobs, best_j of the others
///             + sum_p [N_p mu_p - prices paid in p]   idle capacity at its price
/// An unplaced job with a price of its own regrets that price; if it is placed, its u_j less the
/// price fills the machines of its type. Where the values' sum or the capacity is the smaller
/// bound, all prices count as 0: the parts are regret only, or unallocated GPU thousandths only.
/// O(upper_bound + tasks). Regrets and idle amounts are never negative.
/// @pre `figures` are those of the placement and certificate; as for certify::figures
model::GapParts gap_parts(const model::InstanceView& instance, model::Objective kind,
                          const model::Placement& placement, const model::Certificate& certificate,
                          const model::Figures& figures);

/// Contribution of a part's jobs to the sums of `gap_parts`: adds their regrets and subtracts the
/// prices that placed jobs pay from the earnings of their machines.
/// @param facts  of all jobs
/// @param bests  of these jobs at the certificate's prices
/// @param bound  of all jobs, for the required ones among them that are placed
GapSums job_gaps(const model::InstanceView& instance, model::Objective kind,
                 const JobSubset& subset, const model::Certificate& certificate,
                 const JobFacts& facts, const JobBests& bests, const Bound& bound);

/// Sums over all jobs.
struct PlanTotals {
  const JobFacts& facts;
  const PlacementSums& placed;
  const Bound& bound;
  const model::Figures& figures;
  std::span<const StayItem> stays;  ///< JobTerms::stays
};
/// The parts of the gap from sums over all planned jobs, of an instance that may lack their
/// records.
/// @param jobs  job_gaps of all parts
model::GapParts gap_parts(const model::InstanceView& instance, model::Objective kind,
                          const model::Certificate& certificate, const PlanTotals& totals,
                          GapSums jobs);

}  // namespace berth::certify
