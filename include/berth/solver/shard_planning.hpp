// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/solver/shard.hpp"

namespace berth::solver {

/// A running job of the shard starts where it is; `plan` may evict it for a better one.
/// @pre before `plan`
void add_running(Shard& shard, const model::JobPlacement& placement);

/// Relaxes and rounds: by the pattern LP where every job on GPUs is a single task that looks at the
/// GPU type only, else by the dive on the market's softmax primal with its ejection chains; then
/// idle room is filled.
/// @param prices  by PoolId of the whole cluster, value per GPU
/// @param share   ends what may take long; idle room is filled all the same, by a patient `stop`
void plan(Shard& shard, std::span<const JobId> jobs, std::span<const double> prices,
          const StopToken& share = {});

/// Idle room to unplaced jobs, by precedence.
void fill_idle_capacity(Shard& shard);

/// Ejection search for the jobs evicted since the last call, and for those they evict in turn, at
/// most `sweeps` deep. Returns the value added.
double improve(Shard& shard);

/// Cyclic exchanges, repartitions and ejection chains (`improve` of an occupancy) through all its
/// jobs, placed or not, within what it may use of limits. Returns the value added.
/// @param prices  by PoolId of the whole cluster, value per GPU; they decide no acceptance
double search(Shard& shard, std::span<const double> prices, const SearchEffort& effort);

/// Where more than 4 % of the GPUs are idle and unplaced single tasks ask for as many, all single
/// tasks are placed anew by patterns of machines (`pack`) into the room that gangs and running jobs
/// leave. Kept when it is worth more. Nothing under quotas and uplinks, which patterns do not know.
/// @return what it gained
double repack(Shard& shard);

}  // namespace berth::solver
