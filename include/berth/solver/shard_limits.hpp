// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/solver/shard.hpp"

namespace berth::solver {

/// Use of a limit by one shard that shares it with others: a quota, or one of a rack or a pod of
/// which other shards have machines too. Trivially copyable.
struct LimitUse {
  ShardId shard;
  std::uint32_t limit = 0;  ///< as in `planner_model::CouplingLimits`
  std::int64_t use = 0;
  std::int64_t demand = 0;  ///< what its unplaced jobs would take
};

/// A placed job whose eviction frees some of a limit. Trivially copyable.
struct EvictionCandidate {
  std::int64_t amount = 0;
  planner_model::Precedence precedence;  ///< by value per unit of what it takes
};

/// From now on the shard may use so much of a limit. Before, it may use any amount.
void allow(Shard& shard, std::size_t limit, std::int64_t amount);
/// From now on the shard may use of the limits it shares no more than it does now.
void freeze_limits(Shard& shard);
/// The limits it shares with others, ascending. O(unplaced jobs x limits).
[[nodiscard]] std::vector<LimitUse> limit_uses(const Shard& shard);
/// Limits of racks and pods of which it has all machines, ascending.
[[nodiscard]] const std::vector<std::size_t>& own_limits(const Shard& shard);
/// What the placed jobs use beyond its allowance.
[[nodiscard]] std::int64_t excess(const Shard& shard, std::size_t limit);
/// The placed jobs to evict first to free `amount` of a limit, enough of them if there are: those
/// worth least per unit, required ones last: the reverse of precedence.
[[nodiscard]] std::vector<EvictionCandidate> eviction_candidates(const Shard& shard,
                                                                 std::size_t limit,
                                                                 std::int64_t amount);

}  // namespace berth::solver
