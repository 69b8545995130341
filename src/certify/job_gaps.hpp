// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gap_sums.hpp"
#include "pricing.hpp"

#include <map>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// Jobs, ascending, the best each can do, and where those of them lie that are placed.
struct JobsPlaced {
  std::vector<JobId> jobs;
  const JobBests& bests;
  const model::Placement& placement;
};

/// Of jobs with a price of their own.
using OwnPrices = std::map<JobId, Int128>;

/// Adds what the jobs miss at the prices, and takes off what the placed ones pay for machines,
/// quotas and links.
void add_by_prices(const Pricing& pricing, const JobsPlaced& jobs, const OwnPrices& own,
                   GapSums& sums);

/// Adds what they miss of their best before prices.
void add_by_values(const Pricing& pricing, const JobsPlaced& jobs, GapSums& sums);

}  // namespace berth::certify
