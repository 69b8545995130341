// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

/// Evictions and penalties that the job's quotas ask for before it may be placed.
struct QuotaEviction {
  bool possible = true;
  double cost = 0.0;
  std::vector<JobId> victims = {};  ///< ascending
};

/// What the job's quotas ask for, when it may take `drawn` thousandths beyond their allowances.
QuotaEviction find_quota_eviction(const Occupancy& occupancy, JobId id, std::int64_t drawn);

}  // namespace berth::solver::local_search
