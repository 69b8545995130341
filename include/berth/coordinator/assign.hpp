// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/decomposition.hpp"
#include "berth/model/placement.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::coordinator {

/// Which shard plans a job, and the gangs too large to leave to one.
struct Assignment {
  std::vector<ShardId> shard_of;  ///< by JobId; invalid for jobs in `spanning` and `kept`, and for
                                  ///< pinned ones
  model::Placement spanning;      ///< placed over several shards before anything else
  model::Placement kept;          ///< running jobs of one shard that start where they run now

  /// Jobs of one shard, ascending.
  [[nodiscard]] std::vector<JobId> jobs_of(ShardId shard) const;

  /// Jobs of all shards, ascending.
  [[nodiscard]] std::vector<JobId> open_jobs() const;
};

/// Assigns jobs to shards by consensus prices: a job goes where its best priced option lies, home
/// options to the shard of the home; the others to the shard whose room of the wanted type is
/// claimed least, jobs with priced profit first, large ones before small ones, ties by precedence.
///
/// Gangs larger than half of the largest shard's room of their best type are placed first, over
/// the whole cluster, in order of priced profit per GPU and only when that is positive and quotas
/// and uplinks allow.
///
/// Every rank sends the preferences of the jobs at home there (72 B each), rank 0 assigns the jobs,
/// and broadcasts the result. O(jobs x (types + shards)). After the run's `stop` no more
/// gangs are placed first.
Assignment assign(const comm::Communicator& comm, const Decomposition& decomposition,
                  const solver::RunContext& run = {});

}  // namespace berth::coordinator
