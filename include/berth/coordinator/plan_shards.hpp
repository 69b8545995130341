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
  /// On rank 0: prices of the pattern LP of the whole cluster or, if some jobs are no single tasks,
  /// of each pattern LP of the first shard. Each list proves a bound, which is good with one shard
  /// (decision 22).
  std::vector<std::vector<solver::TaskPrice>> task_prices;
};

/// Settings of every shard.
struct ShardSettings {
  solver::ShardOptions options = {};
  solver::RunContext run = {};
};

/// This rank's shards, empty.
std::vector<solver::Shard> own_shards(const comm::Communicator& comm,
                                      const Decomposition& decomposition,
                                      const ShardSettings& settings);

/// True when all of these jobs with GPUs are single tasks whose value depends on the GPU type only.
bool all_place_independent(const planner_model::Valuation& valuation, std::span<const JobId> jobs);

/// Local relaxation and rounding of every shard by its owner, one shard after the other.
///
/// If all jobs are single tasks whose value depends on the GPU type only, a split could only lose
/// (decision 1): rank 0 solves one pattern LP over all machines, and each shard gets the placements
/// on its machines. The home of all jobs moves to rank 0 then.
///
/// If the run's `stop` has a deadline, each shard gets a share of the remaining time.
///
/// Collective. Sends each owner the records of its shards' jobs, and all ranks those of spanning
/// jobs. With one pattern LP for the cluster it also sends each owner its part of the placement.
LocalPlans plan_shards(const comm::Communicator& comm, const Decomposition& decomposition,
                       JobRecords& records, const Assignment& assignment,
                       const ShardSettings& settings);

}  // namespace berth::coordinator
