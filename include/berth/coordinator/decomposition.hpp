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

/// The decomposed problem after the consensus: shards, their owners, and the consensus prices.
/// Equal on all ranks but for the jobs that the valuation can look up. Holds references.
struct Decomposition {
  const planner_model::Valuation& valuation;  ///< less the prices of limits
  const partition::Shards& shards;
  const partition::Ownership& owners;
  const planner_model::Pools& pools;
  std::span<const double> prices;  ///< by PoolId, value per GPU
};

/// What rounds edit: this rank's shards, the jobs over several shards, and this rank's job records.
/// Holds references.
struct DistributedPlacement {
  std::span<solver::Shard> mine;
  model::Placement& spanning;  ///< equal on all ranks, ascending JobId
  JobRecords& records;
  /// Allowances of limits; null: no limits.
  LimitAllocation* allocation = nullptr;
};

}  // namespace berth::coordinator
