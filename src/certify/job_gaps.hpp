// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gap_sums.hpp"
#include "job_bests.hpp"
#include "pricing.hpp"

#include <map>
#include <span>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// Some jobs, and where those of them lie that are placed; both ascending, none pinned.
struct JobsPlaced {
  std::span<const JobId> jobs;
  std::span<const model::JobPlacement> placed;
};

/// Of jobs with a price of their own.
using OwnPrices = std::map<JobId, Int128>;

/// Adds what the jobs miss at the prices, and takes off what the placed ones pay for machines,
/// quotas and links. @param bests  of these jobs
void add_by_prices(const Pricing& pricing, const JobsPlaced& part, const JobBests& bests,
                   const OwnPrices& own, GapSums& sums);

/// Adds what they miss of their best before prices.
void add_by_values(const Pricing& pricing, const JobsPlaced& part, const JobBests& bests,
                   GapSums& sums);

}  // namespace berth::certify
