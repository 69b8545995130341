// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/pools.hpp"
#include "berth/model/value.hpp"
#include "berth/partition/partition.hpp"

namespace berth::coordinator {

/// Where a job would like to lie at these prices: all that assigning it takes. Trivially copyable.
struct Wish {
  JobId job;
  GpuTypeId type;        ///< invalid: on none that it could have
  ShardId home;          ///< where it has to go for its best option; invalid: anywhere
  bool single = false;   ///< one task: lies on one machine, so in one shard
  bool settled = false;  ///< it runs, and its place is worth its price for now
  double profit = 0.0;   ///< of its best option; -infinity without any
  double gpus = 0.0;
};

/// Of these planned jobs, in their order. O(machines + jobs x types)
std::vector<Wish> wishes(const model::Valuation& valuation, const model::Pools& pools,
                         const partition::Shards& shards, std::span<const double> prices,
                         std::span<const JobId> jobs);

}  // namespace berth::coordinator
