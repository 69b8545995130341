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

/// Tabu (job, destination) pairs, which were refused recently.
using TabuPairs = std::set<std::pair<JobId, ShardId>>;

/// Limits on the grants of one round.
struct Claims {
  std::map<ShardId, double> room;                ///< GPUs by shard; shards not listed grant nothing
  std::map<JobId, double> gpus;                  ///< GPUs of each offered job
  std::map<JobId, std::uint32_t> versions = {};  ///< versions of the jobs when they were offered
  std::map<JobId, std::vector<std::uint32_t>> quotas = {};  ///< quotas that the job uses
  std::map<JobId, std::uint32_t> rank = {};  ///< precedence ranks of the offered jobs; all or none
  std::vector<std::int64_t> quota_slack = {};  ///< by quota: thousandths of GPUs that bids may draw
};

/// STRADS' dependency check on bids (Kim et al. 2016). A job is granted to one shard at most, and
/// to none if it changed since its offer. The grants of a shard stay within its room, except that
/// its largest bid is always admissible; a job refused there goes to the next bid. Draws on a quota
/// stay within its slack. Applies commit rule C1 and counts the jobs' versions in `versions`. The
/// destination checks devices itself.
///
/// The result is in commit order: gain descending, then precedence of the job (its id without
/// ranks), then shard. It is a function of the set of bids, not of their order. O(bids log bids).
std::vector<solver::Bid> grant(std::span<const solver::Bid> bids, const TabuPairs& tabu,
                               const Claims& claims, strads::Versions& versions);

}  // namespace berth::coordinator
