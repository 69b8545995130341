// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/decomposition.hpp"
#include "berth/model/cluster.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {

/// The cluster cut anew: whole pods while there are two for each of `groups`, else whole racks,
/// drawn by (seed, round) and distributed as evenly as their number allows. By MachineId, ids below
/// `groups`; where there are fewer racks than groups, some have nothing.
std::vector<ShardId> draw_groups(const model::Cluster& cluster, std::size_t groups, int round,
                                 std::uint64_t seed);

/// Which groups a regroup round draws.
struct GroupDraw {
  int round = 1;           ///< of regroup rounds, from 1
  std::uint64_t seed = 0;  ///< of the plan
};

/// How a regroup round searches.
struct GroupOptions {
  /// Of a group, about, where groups are fewer than shards; 0: 16,384, in clusters of more than
  /// 32,768 half of that, for their time (and so that ranks have about as much to do).
  int gpus = 0;
  solver::SearchEffort effort = {};  ///< of each group
};

/// min(shards, GPUs / gpus), at least 1. @param gpus  as in GroupOptions
std::size_t group_count(const model::Cluster& cluster, std::size_t shards, std::int64_t gpus);

/// What one regroup round was.
struct RegroupResult {
  std::int64_t groups = 0;    ///< with machines
  std::int64_t improved = 0;  ///< groups whose search gained
};

/// One regroup round: the machines are distributed to groups, at most as many as shards; a group
/// has the jobs that lie inside it and its share of those that wait (in odd rounds at their home,
/// else drawn), searches (`solver::search`), and gives all back to the shards. A gang over two
/// groups stays as it is. Whatever lies over several shards afterwards is in `spanning`.
///
/// Each rank passes its part of the placement and gets it rebuilt; the outcome does not depend on
/// which rank owns what. Messages: two all-to-alls and one all-gather, in all 32 B per task
/// placed and 8 B per waiting job, twice; with limits those of `LimitAllocation::distribute_slack`
/// too, which distributes what is left of them to the groups as to shards; where ranks hold parts,
/// three more with the jobs' records.
RegroupResult regroup(const comm::Communicator& comm, const Decomposition& decomposition,
                      const DistributedPlacement& placement, const GroupDraw& draw,
                      const GroupOptions& search);

}  // namespace berth::coordinator
