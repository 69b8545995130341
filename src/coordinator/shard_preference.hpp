// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/coordinator/decomposition.hpp"
#include "berth/planner_model/precedence.hpp"

namespace berth::coordinator {

/// The shard and GPU type of a job's best option at these prices. Trivially copyable, 72 B.
struct ShardPreference {
  JobId job;
  GpuTypeId type;               ///< invalid: no GPU type holds the job
  ShardId home;                 ///< the only shard of its best option; invalid: any shard
  bool one_task = false;        ///< the job has one task, so it needs one shard only
  bool exceeds_shards = false;  ///< its rules need more machines, racks or pods than a shard has
  bool keeps_place = false;     ///< the job runs, and its value there covers the price
  double profit = 0.0;          ///< priced profit of its best option; -infinity without options
  double gpus = 0.0;
  planner_model::Precedence precedence;
};

/// Preferences of these planned jobs, in their order. O(machines + jobs x types)
std::vector<ShardPreference> shard_preferences(const Decomposition& decomposition,
                                               std::span<const JobId> jobs);

}  // namespace berth::coordinator
