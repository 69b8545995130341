// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// Some of an instance's planned jobs, and where those of them lie that are placed.
///
/// The judge looks at jobs in parts, and keeps exact sums of what it finds: JobFacts, JobTerms,
/// PlacementSums, GapSums. Sums of several parts add up to those of all their jobs together, to the
/// last bit and in any order, and bound, figures and gap are made of these once. So nobody needs
/// all jobs: an instance may be a part (model/workload.hpp) as long as it has the jobs listed and
/// the pinned ones. What it has beyond that is not looked at. A whole instance is one part.
///
/// Where jobs have prices of their own one part must be all jobs, of a whole instance (asserted):
/// these fill racks together.
struct JobSubset {
  std::span<const JobId> jobs;        ///< ascending
  const model::Placement& placement;  ///< of these jobs only
};

}  // namespace berth::certify
