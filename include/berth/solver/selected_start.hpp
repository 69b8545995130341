// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/workload.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/run_context.hpp"
#include "berth/solver/shard.hpp"

namespace berth::solver {

/// True when a job runs that is not pinned. O(running jobs)
bool some_job_may_move(const model::WorkloadView& workload);

/// How the selected jobs are placed.
enum class SelectedPlacement : std::uint8_t {
  /// the best of three: into idle capacity, gangs of narrow domains first, single tasks last, large
  /// jobs first; gangs packed into pods and racks (minimum bin slack), then the others; jobs that
  /// may be anywhere packed by contents of machines (`pack`), then the others
  fill,
  fill_and_dive,  ///< also by a dive; the better one counts
};

struct SelectedOptions {
  SelectedPlacement how = SelectedPlacement::fill;
  ShardOptions shard = {};  ///< of the dive, the packing and the local search
  /// Running jobs, not selected, that are first put where they run.
  std::span<const JobId> staying = {};
};

/// Plans the whole cluster anew: the selected jobs first, then the others into idle capacity, then
/// the local search. Replaces the placement if more required jobs are placed, or as many and the
/// value is larger. A selection of whole jobs (`select_jobs`) keeps the quotas and the GPUs of the
/// cluster, while prices take parts of jobs; and jobs of wide domains fill what those of narrow
/// domains leave of racks.
///
/// @param valuation  values without prices of limits
/// @param pools      first prices of the dive
/// @param selected   ascending; not pinned
/// @param placement  ascending; of all jobs that are not pinned
/// @param run        limits of the plan; seed of the packing
/// @pre the workload has the records of all jobs; a PetscSession exists
/// @return the value gained
double plan_selected(const planner_model::Valuation& valuation, const PricedPools& pools,
                     std::span<const JobId> selected, const SelectedOptions& options,
                     const RunContext& run, model::Placement& placement);

}  // namespace berth::solver
