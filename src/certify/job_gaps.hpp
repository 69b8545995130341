// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pricing.hpp"

#include <map>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/certify/gap_sums.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/certify/job_subset.hpp"

namespace berth::certify {

/// Job prices.
using OwnPrices = std::map<JobId, Int128>;

/// Adds the jobs' regrets at the prices, and subtracts the prices that placed jobs pay for
/// machines, quotas and uplinks. Where whole jobs are chosen, a job regrets its place only, and
/// what a better choice of jobs would earn counts for the quotas.
void add_by_prices(const Pricing& pricing, const JobSubset& subset, const JobBests& bests,
                   const OwnPrices& own, GapSums& sums);

/// Adds the jobs' regrets before prices.
void add_by_values(const Pricing& pricing, const JobSubset& subset, const JobBests& bests,
                   GapSums& sums);

/// Subtracts the GPU thousandths that the placed jobs ask for.
void add_by_capacity(const Pricing& pricing, const JobSubset& subset, GapSums& sums);

}  // namespace berth::certify
