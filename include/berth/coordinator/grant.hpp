// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "berth/solver/shard_bidding.hpp"
#include "berth/strads/commit.hpp"

namespace berth::coordinator {

/// A (job, destination) pair that was refused lately.
using TabuPairs = std::set<std::pair<JobId, ShardId>>;

/// What one shard's machines may be asked for by the grants of one round.
struct Claims {
  std::map<ShardId, double> room;                ///< GPUs by shard; shards not listed grant nothing
  std::map<JobId, double> gpus;                  ///< what each offered job takes
  std::map<JobId, std::uint32_t> versions = {};  ///< versions of the jobs when they were offered
  std::map<JobId, std::vector<std::uint32_t>> quotas = {};  ///< that the job counts for
  std::map<JobId, std::uint32_t> rank = {};    ///< of the offered jobs by precedence; all or none
  std::vector<std::int64_t> quota_slack = {};  ///< by quota: thousandths of GPUs that bids may draw
};

/// STRADS' dependency check on bids: a job goes to one shard only, and not at all when it has
/// changed since it was offered; a shard is not asked for more than its room (but for its largest
/// bid always), the job then goes to the next shard that bids for it; and no more is drawn from a
/// quota than is left of it. Commit rule C1, the jobs' versions counted in `versions`; which
/// devices a job gets is for the destination to check.
///
/// The result is in commit order: gain descending, then precedence of the job (its id without
/// ranks), then shard. It depends on the set of bids alone, not on their order. O(bids log bids).
std::vector<solver::Bid> grant(std::span<const solver::Bid> bids, const TabuPairs& tabu,
                               const Claims& claims, strads::Versions& versions);

}  // namespace berth::coordinator
