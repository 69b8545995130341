// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/eviction_cost_bounds.hpp"
#include "local_search/fill_idle_capacity.hpp"
#include "local_search/machines_by_cost.hpp"
#include "occupancy/search_state.hpp"

#include <vector>

namespace berth::solver::local_search {

/// An insertion of one unplaced job (Glover 1996): machines, and jobs to evict. No machines: none.
struct Insertion {
  double gain = 0.0;                ///< value of the job less value of the victims
  std::vector<MachineId> machines;  ///< candidates for all its tasks
  std::vector<JobId> victims;       ///< distinct
};

struct InsertionSearch {
  /// Bounds for the present content, or null: skips domains that cannot be better, without changing
  /// the result.
  const EvictionCostBounds* costs = nullptr;
  KeptCostBounds* kept = nullptr;  ///< such bounds, kept; in place of `costs`, or null
  /// Orders for the present content, or null: ends the search of a domain as soon as its cheapest
  /// machines are known, without changing the result.
  MachinesByCost* order = nullptr;
  std::int64_t drawn = 0;  ///< additional allowance of the job's quotas, GPU thousandths
  model::Level widest = model::Level::cluster;  ///< widest domain it may be placed in
  GpuTypeId type = {};                          ///< only on it; invalid: on any
  double least = 0.0;                           ///< gain that an insertion must exceed
};

/// The best insertion on the present content over every domain of the shard: in each, the machines
/// where room for one more task costs least, with victims by ascending value per GPU. If the job
/// exceeds the allowance of a quota, jobs of least value that use the quota are evicted first; for
/// a soft quota it may pay the penalty instead. Required jobs are never victims. Jobs with several
/// task groups are inserted into idle room only. Does not change the occupancy. O(machines x jobs
/// per machine) per allowed GPU type and level.
template <SearchState State>
Insertion find_insertion(const State& state, JobId job, const InsertionSearch& search = {});

/// Result of an insertion.
struct InsertionOutcome {
  double gain = 0.0;           ///< value added; 0: nothing has changed
  std::vector<JobId> evicted;  ///< victims that became unplaced
};

/// Applies the insertion, places victims into idle room by precedence, and undoes everything if the
/// gain is below `at_least` or a quota would be exceeded. If limits of racks and pods do not admit
/// it, an insertion within a rack is searched instead.
/// @param placer  as `fill_idle_capacity` takes it, for the victims
template <SearchState State>
InsertionOutcome insert(State& state, JobId job, const Insertion& insertion, double at_least,
                        const OptionPlacer& placer = {});

}  // namespace berth::solver::local_search
