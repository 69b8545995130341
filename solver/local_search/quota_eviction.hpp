// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "occupancy/search_state.hpp"

#include <cstdint>
#include <vector>

namespace berth::solver::local_search {

/// Evictions and penalties that the job's quotas ask for before it may be placed.
struct QuotaEviction {
  bool possible = true;
  double cost = 0.0;
  std::vector<JobId> victims = {};  ///< ascending
};

/// What the job's quotas ask for, when it may take `drawn` thousandths beyond their allowances.
template <SearchState State>
QuotaEviction find_quota_eviction(const State& state, JobId id, std::int64_t drawn);

}  // namespace berth::solver::local_search
