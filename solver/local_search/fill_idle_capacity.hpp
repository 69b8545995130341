// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "occupancy/search_state.hpp"

#include <functional>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/planner_model/option_enumerator.hpp"

namespace berth::solver::local_search {

/// Replaces the search for the place of an option; `place` returns false without room. Or shortens
/// it: `holders` and `roomy`.
struct OptionPlacer {
  model::Level finest = model::Level::rack;  ///< of the options, as `OptionEnumerator` takes it
  GpuTypeId type = {};                       ///< options on this type only; invalid: on all
  std::function<bool(JobId, const planner_model::JobOption&)> place = {};
  /// Those of these domains that may hold the job, in their order; the others have no room for it.
  std::function<std::vector<const Domain*>(JobId, GpuTypeId, std::span<const Domain>)> holders = {};
  /// Machines of one of these domains, ascending, such that best fit places the job on them as on
  /// all of them. Given with `holders`.
  std::function<std::vector<MachineId>(JobId, GpuTypeId, const Domain&)> roomy = {};
};

/// Places those of the jobs that are unplaced into idle capacity, as far as quotas and limits of
/// racks and pods allow (list scheduling: Graham 1969): required jobs first, then by value density
/// of the option that each tries next, in steps of 1 %, then large jobs first (best fit
/// decreasing), then by precedence. A job without room for one option is queued again with its next
/// one. It is placed in the fullest rack or pod with room, on the fullest machines there (best
/// fit). Jobs of value 0 are placed too. Ends at a stop. O((jobs + kinds x options) (log jobs +
/// machines)), where jobs of one kind differ in their base value only.
/// @param placer  replaces the search for the place of an option, and takes the room
template <SearchState State>
void fill_idle_capacity(State& state, std::span<const JobId> jobs, const StopToken& stop = {},
                        const OptionPlacer& placer = {});

/// Places one unplaced job likewise. @return true when it was placed
template <SearchState State>
bool place_in_idle_capacity(State& state, JobId job, const OptionPlacer& placer = {}) {
  fill_idle_capacity(state, std::span(&job, 1), {}, placer);
  return state.is_placed(job);
}

}  // namespace berth::solver::local_search
