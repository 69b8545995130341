// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/eviction_cost_bounds.hpp"
#include "occupancy/search_state.hpp"

#include <vector>

namespace berth::solver::local_search {

/// A way to bring one job in: where, and which jobs must go. gain <= 0: there is none.
struct Insertion {
  double gain = 0.0;                ///< value of the job minus value of the victims
  std::vector<MachineId> machines;  ///< candidates for all its tasks
  std::vector<JobId> victims;       ///< distinct
};

struct InsertionSearch {
  /// Of the same content, or null: domains that cannot do better are passed over; the result is
  /// the same.
  const EvictionCostBounds* costs = nullptr;
  std::int64_t drawn =
      0;  ///< GPU thousandths that the job may take of its quotas beyond allowances
  model::Level widest = model::Level::cluster;  ///< widest domain it may be placed in
};

/// The best insertion on the present content, looking at every domain of the shard: in each, the
/// machines where room for one more task costs least, victims of a machine in order of value per
/// GPU. Where the job passes the allowance of a quota, first those go that are worth least among
/// the jobs that count for it; beyond a soft one it may pay instead. Required jobs are never
/// victims. Jobs with several task groups only go into idle room.
/// Reads only. O(machines x jobs per machine) per allowed GPU type and level.
template <SearchState State>
Insertion find_insertion(const State& state, JobId job, const InsertionSearch& search = {});

/// What an insertion changed.
struct InsertionOutcome {
  double gain = 0.0;           ///< value added; 0 when nothing was changed
  std::vector<JobId> evicted;  ///< victims that found no other place
};

/// Carries the insertion out, puts victims back into idle room (by precedence), and undoes
/// everything when less than `at_least` is gained, or a quota would be passed. One that limits of
/// racks and pods refuse is searched again within a rack.
template <SearchState State>
InsertionOutcome insert(State& state, JobId job, const Insertion& insertion, double at_least);

}  // namespace berth::solver::local_search
