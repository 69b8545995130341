// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "berth/solver/shard.hpp"

namespace berth::coordinator {

/// A (job, destination) pair that was refused lately.
using Tabu = std::set<std::pair<JobId, ShardId>>;

/// Each offered job goes to the shard that bids most for it (ties: lowest shard) unless the pair
/// is tabu. The result is in commit order: gain descending, then job. It depends on the set of
/// bids alone, not on their order. O(bids log bids).
std::vector<solver::Bid> grant(std::span<const solver::Bid> bids, const Tabu& tabu);

}  // namespace berth::coordinator
