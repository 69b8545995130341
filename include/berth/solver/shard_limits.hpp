// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/solver/shard.hpp"

namespace berth::solver {

/// Use of a shared limit by one shard: a quota, or a limit of a rack or pod with machines in
/// several shards. Trivially copyable.
struct LimitUse {
  ShardId shard;
  std::uint32_t limit = 0;  ///< position in `planner_model::CouplingLimits`
  std::int64_t use = 0;     ///< by placed jobs, in the limit's unit
  std::int64_t demand = 0;  ///< of unplaced jobs, in the limit's unit
};

/// A placed job whose eviction frees some of a limit. Trivially copyable.
struct EvictionCandidate {
  std::int64_t amount = 0;               ///< freed, in the limit's unit
  planner_model::Precedence precedence;  ///< by value per unit of `amount`
};
/// Sets the shard's allowance of a limit, in its unit. Without an allowance use is unlimited.
void allow(Shard& shard, std::size_t limit, std::int64_t amount);
/// Sets the allowances of the shared limits to the shard's present use.
void freeze_limits(Shard& shard);
/// Use of the shared limits, ascending. O(unplaced jobs x limits).
[[nodiscard]] std::vector<LimitUse> limit_uses(const Shard& shard);
/// Limits of racks and pods with all machines in this shard, ascending.
[[nodiscard]] const std::vector<std::size_t>& own_limits(const Shard& shard);
/// Value lost by use over the allowances of soft limits among these.
[[nodiscard]] double own_penalties(const Shard& shard);
/// Use of a limit by placed jobs less the allowance, if positive.
[[nodiscard]] std::int64_t excess(const Shard& shard, std::size_t limit);
/// The placed jobs to evict first to free `amount` of a limit, in the reverse of precedence (least
/// value per unit first, required jobs last); as many as needed, or all.
[[nodiscard]] std::vector<EvictionCandidate> eviction_candidates(const Shard& shard,
                                                                 std::size_t limit,
                                                                 std::int64_t amount);

}  // namespace berth::solver
