// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/dive.hpp"

namespace berth::solver {

/// How the selected jobs are placed.
enum class SelectedPlacement : std::uint8_t {
  /// into idle capacity: gangs of narrow domains first, single tasks last, large jobs first; or
  /// gangs packed into pods and racks (minimum bin slack), then the others
  fill,
  fill_and_dive,  ///< also by a dive; the better one counts
};

/// Plans the whole cluster anew: the selected jobs first, then the others into idle capacity, then
/// the local search. Replaces the placement if more required jobs are placed, or as many and the
/// value is larger. A selection of whole jobs (`select_jobs`) keeps the quotas and the GPUs of the
/// cluster, while prices take parts of jobs; and jobs of wide domains fill what those of narrow
/// domains leave of racks.
///
/// @param valuation  values without prices of limits
/// @param limits     null: none
/// @param pools      first prices of the dive
/// @param selected   ascending; not pinned
/// @param placement  ascending; of all jobs that are not pinned
/// @pre no job of the workload runs; the workload has the records of all jobs
/// @return the value gained
double plan_selected(const planner_model::Valuation& valuation,
                     const planner_model::CouplingLimits* limits, const PricedPools& pools,
                     std::span<const JobId> selected, SelectedPlacement how,
                     const DiveOptions& options, model::Placement& placement,
                     const StopToken& stop = {});

}  // namespace berth::solver
