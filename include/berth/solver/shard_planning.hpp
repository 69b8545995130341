// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/solver/shard.hpp"

namespace berth::solver {

/// Places a running job at its present place; `plan` may evict it for a job of larger value.
/// @pre the shard is not planned
void add_running(Shard& shard, const model::JobPlacement& placement);

/// Local plan: the pattern LP if every job with GPUs is a single task whose value depends on the
/// GPU type only, otherwise the dive on the market's softmax primal with local search (decision 1)
/// and `repack`, the better of both; then fills idle room.
/// @param prices  by PoolId of the whole cluster, value per GPU
/// @param share   ends the long searches; idle room is filled nevertheless, until a patient stop
void plan(Shard& shard, std::span<const JobId> jobs, std::span<const double> prices,
          const StopToken& share = {});

/// Fills idle capacity with unplaced jobs, by value per GPU and precedence.
void fill_idle_capacity(Shard& shard);

/// Ejection search for the jobs evicted since the last call and for those that they evict in turn,
/// `ShardOptions::sweeps` deep at most. Returns the value added.
double improve(Shard& shard);

/// Cyclic exchanges, repartitions and ejection chains (`improve` of an occupancy) of all jobs of
/// the shard, within its allowances. Returns the value added.
/// @param prices  by PoolId of the whole cluster, value per GPU; acceptance does not depend on them
double search(Shard& shard, std::span<const double> prices, const SearchEffort& effort);

/// Places all jobs whose value depends on the GPU type only anew by patterns of machines (`pack`),
/// gangs among them, into the room that the others leave, and keeps the result if more required
/// jobs are placed, or as many and the value is larger (decision 26). Single tasks only, where
/// tasks have many shapes or there are no gangs: then if at least `RepackOptions::idle` of the GPUs
/// are idle and unplaced single tasks request as many (decision 22). No effect under limits, which
/// the pattern LP does not have.
/// @return the value gained
double repack(Shard& shard);

}  // namespace berth::solver
