// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/fill_idle_capacity.hpp"

#include <vector>

#include "berth/solver/free_task_counts.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

/// Shortens searches for places by counts of free room, without another result.
/// @param mark    set when the counts were exact; no change since then is rolled back while the
///                placer is in use
/// @param counts  must outlive the placer
/// @param freed   machines whose room may grow, ascending
OptionPlacer counted_placer(const Occupancy& state, Occupancy::Mark mark, FreeTaskCounts& counts,
                            std::vector<MachineId> freed = {});

}  // namespace berth::solver::local_search
