// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/base/stop.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

/// Gangs that take whole machines exchange these for other machines of the class, with all that is
/// on them, where running jobs then return to the machines that the gang left: the gang's rack
/// (pod) stays as wide, the jobs that were on the new machines take the old ones. By descending
/// move costs on the gang's machines; an exchange is kept if the total value less surcharges rises.
/// At most three sweeps, in which at most 1,000,000 machines and jobs are looked at. Returns the
/// value gained (decision 125).
double exchange_gangs(Occupancy& occupancy, const StopToken& stop);

}  // namespace berth::solver::local_search
