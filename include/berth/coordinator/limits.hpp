// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/model/links.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/pools.hpp"
#include "berth/model/quota.hpp"
#include "berth/model/value.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {

/// What a plan takes of everything that no shard sees alone: quotas and uplinks.
class Ledger {
 public:
  Ledger(const model::Instance& instance, const model::Quotas& quotas, const model::Links& links);

  void add(const model::JobPlacement& placed) { count(placed, +1); }
  void remove(const model::JobPlacement& placed) { count(placed, -1); }

  /// True when the job would keep within all hard quotas, and within soft ones if it is worth less
  /// per GPU than their penalties.
  [[nodiscard]] bool admits(JobId job, double value) const;
  /// The same, and within all uplinks.
  [[nodiscard]] bool admits(const model::JobPlacement& placed, double value) const;

  [[nodiscard]] std::int64_t over(std::uint32_t limit) const;   ///< GPU thousandths over the quota
  [[nodiscard]] std::int64_t excess(std::uint32_t link) const;  ///< Mbit/s over the uplink

 private:
  void count(const model::JobPlacement& placed, int sign);

  const model::Instance* instance_;
  const model::Quotas* quotas_;
  const model::Links* links_;
  std::vector<std::int64_t> milli_;  ///< by quota
  std::vector<std::int64_t> mbps_;   ///< by link
};

/// Makes a placement keep its quotas and uplinks: where one is passed the jobs worth least per GPU
/// (per Mbit/s) go, required ones last; then whoever is allowed and fits takes the idle room, most
/// valuable per GPU first. The prices of quotas have done the choosing before; this is the commit.
/// @param valuation  without queue prices
/// O(jobs log jobs) when nothing is passed, else that of filling the cluster's idle room.
model::Placement obey_limits(const model::Valuation& valuation, const model::Pools& pools,
                             const model::Quotas& quotas, const model::Links& links,
                             model::Placement placement, const solver::ShardOptions& options);

}  // namespace berth::coordinator
