// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/run_context.hpp"
#include "berth/solver/shard.hpp"

namespace berth::solver {

/// Plans the whole cluster anew for few large gangs: which gang lies in which rack, pod or GPU type
/// is a multiple knapsack problem in GPUs, solved by a branch and bound of counted steps; the gangs
/// are put there, then the other jobs into idle capacity, then the local search. Replaces the
/// placement if more required jobs are placed, or as many and the value is larger.
///
/// @param valuation  values without prices of limits
/// @param pools      of the local search
/// @param jobs       ascending; of whole GPUs, not pinned (`whole_gpu_jobs`)
/// @param placement  ascending; of all jobs that are not pinned
/// @param run        the cluster has no limits
/// @pre the workload has the records of all jobs
/// @return the value gained
double plan_assigned(const planner_model::Valuation& valuation, const PricedPools& pools,
                     std::span<const JobId> jobs, const SearchEffort& effort, const RunContext& run,
                     model::Placement& placement);

}  // namespace berth::solver
