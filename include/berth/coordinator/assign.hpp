// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/decomposition.hpp"
#include "berth/model/placement.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::coordinator {

/// The shard that plans each job, and the gangs too large for one shard.
struct Assignment {
  std::vector<ShardId> shard_of;  ///< by JobId; invalid for jobs in `spanning` and `kept`, and for
                                  ///< pinned ones
  model::Placement spanning;      ///< gangs placed over several shards before the local plans
  model::Placement kept;          ///< running jobs of one shard; at their present placement unless
                                  ///< gangs over several shards moved them

  /// Jobs of each shard, ascending. O(jobs + shards)
  [[nodiscard]] std::vector<std::vector<JobId>> jobs_by_shard(std::size_t shards) const;

  /// Jobs of all shards, ascending.
  [[nodiscard]] std::vector<JobId> open_jobs() const;
};

/// Assigns jobs to shards by consensus prices. A job whose best priced option is at its home is
/// assigned to the shard of its home; any other to the shard where the smallest share of the room
/// of its best type is claimed. Jobs with priced profit come first, then large ones; ties by
/// precedence.
///
/// Gangs larger than half of the largest shard's room of their best type (the half: chosen, not
/// tuned) are placed before, over the whole cluster, by priced profit per GPU, if it is positive
/// and limits allow.
///
/// Every rank sends the preferences of its home jobs (72 B each), rank 0 assigns the jobs and
/// broadcasts the result. O(jobs x (types + distinct amounts of
/// room of a type in a shard)). A stop ends the placement of gangs.
/// @param records  rank 0 gets those of the gangs that are placed before
Assignment assign(const comm::Communicator& comm, const Decomposition& decomposition,
                  JobRecords& records, const solver::RunContext& run = {});

}  // namespace berth::coordinator
