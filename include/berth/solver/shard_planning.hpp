// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

/// A large neighbourhood of a shard's plan (Shaw 1998): which jobs lose their places, and how the
/// dive that places them anew differs from that of `plan`.
struct Neighbourhood {
  double share = 1.0;        ///< of the placed jobs that lose their places, drawn by `key`; (0, 1]
  double smoothing = 1.0;    ///< factor of DiveOptions::eps, > 0
  double decided = 0.9;      ///< in place of DiveOptions::decided
  std::uint64_t key = 0;     ///< of the draw
  SearchEffort effort = {};  ///< of the search afterwards
};

/// Frees a part of the placed jobs, plans the unplaced jobs anew as `plan` does and searches. Keeps
/// the result if more required jobs are placed, or as many and the value less surcharges of limits
/// is larger; otherwise the shard does not change.
/// @return the value gained
double replan(Shard& shard, std::span<const double> prices, const Neighbourhood& neighbourhood);

/// Places all jobs whose value depends on the GPU type only anew by patterns of machines (`pack`),
/// gangs among them, into the room that the others leave, and keeps the result if more required
/// jobs are placed, or as many and the value is larger (decision 26). Single tasks only, where
/// tasks have many shapes or there are no gangs: then if at least `RepackOptions::idle` of the GPUs
/// are idle and unplaced single tasks request as many (decision 22). No effect under limits, which
/// the pattern LP does not have.
/// @return the value gained
double repack(Shard& shard);

}  // namespace berth::solver
