// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/assign.hpp"
#include "berth/coordinator/decomposition.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {

/// This rank's shards after their local plans.
struct LocalPlans {
  std::vector<solver::Shard> mine;
  /// Rank 0: prices of the pattern LP that served all GPU jobs, or, where single tasks beside gangs
  /// were packed, of that of the first shard. They prove a bound, for one shard a good one.
  std::vector<solver::TaskPrice> task_prices;
};

/// What every shard is made with.
struct ShardSettings {
  solver::ShardOptions options = {};
  solver::RunContext run = {};
};

/// This rank's shards, empty.
std::vector<solver::Shard> own_shards(const comm::Communicator& comm,
                                      const Decomposition& decomposition,
                                      const ShardSettings& settings);

/// Local relaxation and rounding of every shard by its owner, shards in turn.
///
/// Where no job tells places apart (single tasks whose value depends on the GPU type alone), a
/// split would only lose: one pattern LP over all machines serves the whole cluster, on rank 0,
/// and the shards are handed what lies on their machines. All jobs go home to rank 0 then.
///
/// When the run's `stop` has a deadline, each shard gets its share of the time left.
///
/// Collective. Owners are sent the jobs of their shards, all ranks those that span shards. Messages
/// beside that: the placement once, in that second case only, each owner's part to it.
LocalPlans plan_shards(const comm::Communicator& comm, const Decomposition& decomposition,
                       const Assignment& assignment, const ShardSettings& settings);

}  // namespace berth::coordinator
