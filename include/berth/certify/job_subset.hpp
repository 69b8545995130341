// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// Some of an instance's planned jobs, and the placements of those that are placed.
///
/// The judge processes jobs in parts and keeps exact sums: JobFacts, JobTerms, PlacementSums,
/// GapSums. Sums of several parts add up to those of all their jobs together, to the last bit and
/// in any order; bound, figures and gap are computed from these sums once. So no rank needs all
/// jobs: an instance may be a part (model/job_set.hpp) as long as it has the jobs listed and the
/// pinned ones. Other jobs of it are ignored. A whole instance is one part.
///
/// If jobs have prices of their own, one part must contain all jobs of a whole instance (asserted),
/// because these jobs fill racks together.
struct JobSubset {
  std::span<const JobId> jobs;        ///< ascending
  const model::Placement& placement;  ///< of these jobs only
};

}  // namespace berth::certify
