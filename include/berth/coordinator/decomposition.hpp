// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/partition/partition.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {

class LimitAllocation;

/// The problem as all stages after the consensus see it, the same on all ranks but for the records:
/// shards, the ranks that own them, and the consensus prices. References only.
struct Decomposition {
  const planner_model::Valuation& valuation;  ///< less the prices of quotas and uplinks
  const partition::Shards& shards;
  const partition::Ownership& owners;
  const planner_model::Pools& pools;
  std::span<const double> prices;  ///< by PoolId, value per GPU
  JobRecords& records;             ///< of jobs, and which rank holds them
};

/// The placement that stages edit: what this rank's shards hold, and the jobs over several shards.
/// References only.
struct DistributedPlacement {
  std::span<solver::Shard> mine;
  model::Placement& spanning;  ///< the same on all ranks, ascending JobId
  /// What the shards may use of quotas and uplinks. Null: there are none.
  LimitAllocation* allocation = nullptr;
};

}  // namespace berth::coordinator
