// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/certify/bound.hpp"
#include "berth/certify/job_subset.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"

namespace berth::certify {

/// Value of a feasible placement.
struct ObjectiveValue {
  static constexpr int kScaleLog2 = 54;
  Int128 exact = 0;    ///< units of 2^-kScaleLog2; every job rounded down (from 1/2 on: exact)
  double value = 0.0;  ///< nearest to `exact`, so never above a bound rounded up
};

/// Sum over placed jobs. `allocate`: GPU thousandths. `value`: per job, in doubles and in this
/// order, base x speed[type] x home[distance of the farthest task] x width[narrowest width],
/// base = value when given, else weight x GPU thousandths / 1000; less move_cost when the job runs
/// elsewhere than now, and less stop_cost of every running job that is not placed. Pinned jobs
/// count nowhere. Soft quotas lose over_quota_penalty x GPUs over. O(tasks log tasks).
ObjectiveValue objective(const model::InstanceView& instance, model::Objective kind,
                         const model::Placement& placement);

/// Sums over placed jobs.
struct PlacementSums {
  /// Value plus stop costs saved, before quotas, in units of 2^-ObjectiveValue::kScaleLog2.
  Int128 gain = 0;
  std::int64_t gpu_milli = 0;
  std::int64_t jobs = 0;
  /// by QueueId: GPU thousandths, including jobs of descendant queues
  std::vector<std::int64_t> quotas = {};
  std::vector<std::int64_t> spare = {};  ///< by row of Cluster::spare: GPU thousandths taken

  PlacementSums& operator+=(const PlacementSums& others);
};
/// @param placement  of any jobs of the instance
PlacementSums placement_sums(const model::InstanceView& instance, model::Objective kind,
                             const model::Placement& placement);
/// Objective from the sums over all placed jobs. @param instance  may lack their records
ObjectiveValue objective(const model::InstanceView& instance, model::Objective kind,
                         const PlacementSums& sums);

/// (upper_bound - objective) / max(|upper_bound|, 1e-12); 0 when both are 0.
double gap(double upper_bound, double objective);

/// Required jobs that the placement lacks, and those that it has; ascending. Pinned jobs are in
/// neither list.
std::vector<JobId> required_missing(const model::InstanceView& instance,
                                    const model::Placement& placement);
std::vector<JobId> required_placed(const model::InstanceView& instance,
                                   const model::Placement& placement);
/// Required jobs of a part that its placement lacks.
std::vector<JobId> required_missing(const model::InstanceView& instance, const JobSubset& subset);
std::vector<JobId> required_placed(const model::InstanceView& instance, const JobSubset& subset);

/// The figures that need no prices; bound and gap are 0. @pre tasks refer to the instance
model::Figures recount(const model::InstanceView& instance, model::Objective kind,
                       const model::Placement& placement);
model::Figures recount(const model::InstanceView& instance, model::Objective kind,
                       const PlacementSums& sums);

/// All figures of a plan from its placement and prices alone.
/// @pre the placement is feasible and unusable(...) is empty
/// @post upper_bound >= objective: anything else is an invalid certificate and a bug (asserted)
model::Figures figures(const model::InstanceView& instance, model::Objective kind,
                       const model::Placement& placement, const model::Certificate& certificate);
/// All figures from sums over all placed jobs. @param bound  for the required ones among them
model::Figures figures(const model::InstanceView& instance, model::Objective kind,
                       const PlacementSums& sums, const Bound& bound);

/// SHA-256 (hex) over objective, upper bound (bit patterns) and all prices in the order listed;
/// pods, racks, classes and GPU types by name, shapes by what a task takes. Then likewise each
/// class of a plan by priority: its priority, value, bound, weights and prices.
std::string proof_digest(const model::InstanceView& instance, double objective, double upper_bound,
                         const model::Certificate& certificate,
                         std::span<const model::PriorityClass> classes = {});

}  // namespace berth::certify
