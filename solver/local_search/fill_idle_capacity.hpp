// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "occupancy/search_state.hpp"

#include <functional>
#include <span>

#include "berth/base/stop.hpp"
#include "berth/planner_model/option_enumerator.hpp"

namespace berth::solver::local_search {

/// Places a job by one of its options, or returns false.
struct OptionPlacer {
  model::Level finest = model::Level::rack;  ///< of the options, as `OptionEnumerator` takes it
  std::function<bool(JobId, const planner_model::JobOption&)> place = {};
};

/// Places those of the jobs that are unplaced into idle capacity, as far as quotas and limits of
/// racks and pods allow, by precedence at the value of the option that each tries next: a job that
/// finds no room for one option waits for its turn with the next one. It is placed in the fullest
/// rack or pod with room, on the fullest machines there. Jobs of value 0 are placed too, if there
/// is room. Ends early when `stop` says so. O((jobs + kinds x options) (log jobs + machines)),
/// where jobs of one kind are equal but for what they are worth as a whole.
/// @param placer  another way to find the place of an option; it takes the room
template <SearchState State>
void fill_idle_capacity(State& state, std::span<const JobId> jobs, const StopToken& stop = {},
                        const OptionPlacer& placer = {});

/// The same for one job. @return true when it was placed
template <SearchState State>
bool place_in_idle_capacity(State& state, JobId job) {
  fill_idle_capacity(state, std::span(&job, 1));
  return state.is_placed(job);
}

}  // namespace berth::solver::local_search
