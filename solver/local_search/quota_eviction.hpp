// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "occupancy/search_state.hpp"

#include <cstdint>
#include <vector>

namespace berth::solver::local_search {

/// Evictions and penalties that the job's quotas require before it is placed.
struct QuotaEviction {
  bool possible = true;
  double cost = 0.0;
  std::vector<JobId> victims = {};  ///< ascending
};

/// The quota eviction of a job that may use `drawn` GPU thousandths beyond the allowances.
template <SearchState State>
QuotaEviction find_quota_eviction(const State& state, JobId id, std::int64_t drawn);

}  // namespace berth::solver::local_search
