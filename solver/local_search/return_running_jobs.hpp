// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

/// True for a running job at its present place.
[[nodiscard]] bool stays(const Occupancy& occupancy, JobId job);

/// Running jobs that are placed elsewhere or stopped return to their present places while the total
/// value less surcharges rises. Jobs in these places move to the places that the running jobs
/// leave, else into idle capacity, else become unplaced. Jobs with equal tasks exchange places in
/// this way, which needs the fewest moves. By descending move cost, then precedence; at most three
/// sweeps. Returns the value gained.
double return_running_jobs(Occupancy& occupancy, const StopToken& stop);
/// The same for these jobs, in this order; others than running ones are left out.
double return_running_jobs(Occupancy& occupancy, std::span<const JobId> jobs,
                           const StopToken& stop);

}  // namespace berth::solver::local_search
