// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "occupancy/search_state.hpp"

#include <cstdint>
#include <vector>

namespace berth::solver::local_search {

/// Room for one more task on a machine, and its cost beyond the openings of lower rank.
struct Opening {
  double cost = 0.0;
  MachineId machine;
  std::uint32_t rank = 0;           ///< position among the machine's openings
  std::vector<JobId> victims = {};  ///< beyond those of lower ranks
};

/// A job to insert into a state.
template <SearchState State>
struct InsertionQuery {
  const State* state;
  JobId job;
  const model::Job* record;
  const model::Shape* shape;
  std::int64_t tasks;
  const std::vector<JobId>* quota_victims =
      nullptr;         ///< evicted in any case, for quotas; ascending
  bool ruled = false;  ///< rules of this job or of others may keep them apart

  [[nodiscard]] const model::WorkloadView& workload() const {
    return state->valuation().instance().workload;
  }
};

/// Appends the openings of one machine for up to `limit` tasks, with a total cost up to `budget`.
template <SearchState State>
void openings(const InsertionQuery<State>& q, MachineId m, std::int64_t limit, double budget,
              std::vector<Opening>& out);

}  // namespace berth::solver::local_search
