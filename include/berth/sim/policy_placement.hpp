// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/policy/policy.hpp"
#include "berth/sim/trace.hpp"

/// What a policy of `berth simulate` does with the jobs of a file, as placements of a plan.
namespace berth::sim {

/// The instance as a plan of one moment sees it: without `after`, `not_before` and
/// `configurations`. Arrivals are seconds before the last one, so that the moment is 0.
/// @param durations  false: jobs without duration and limit take a second, which no one looks at
model::Instance at_one_moment(const model::Instance& instance, bool durations);

/// Keys of the instance that a plan must respect and policies do not; empty: none.
std::string unheeded_keys(const model::Instance& instance);

/// What the policy starts, and leaves running, in one decision at time 0 with all jobs there.
/// Running jobs have their places before it and are no arrivals. Jobs that the trace refuses are not
/// there.
/// @param trace  of `at_one_moment`
/// @throws InputError: a running job whose places are not free
model::Placement decided_placement(const model::Instance& instance, const Trace& trace,
                                   policy::Policy& policy);

/// Starts and ends of a simulation, in whole seconds.
struct TimedPlacement {
  model::Placement placements;     ///< ascending JobId
  std::vector<std::int64_t> ends;  ///< by position in `placements`
};

/// The jobs of the instance from second `now` on: jobs that arrived before are there then. Decides
/// at whole seconds, so that starts are. @pre the policy stops no job
/// @throws InputError: a job that a window stops
TimedPlacement simulated_placement(const model::Instance& instance, Trace trace,
                                   policy::Policy& policy, std::int64_t now);

}  // namespace berth::sim
