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

/// Draws groups of machines by (seed, round): whole pods if there are at least two per group,
/// otherwise whole racks, in numbers as equal as possible. By MachineId: group, below `groups`.
/// With fewer racks than groups some groups are empty.
std::vector<ShardId> draw_groups(const model::Cluster& cluster, std::size_t groups, int round,
                                 std::uint64_t seed);

/// Key of the groups that a regroup round draws.
struct GroupDraw {
  int round = 1;           ///< number of the regroup round, from 1
  std::uint64_t seed = 0;  ///< of the plan
};

/// Size of groups and effort of their search.
struct GroupOptions {
  /// GPUs of a group, about, if that gives fewer groups than shards. 0: 16,384 (decision 13), and
  /// 8,192 in clusters of more than 32,768, which is faster and balances ranks better (decision
  /// 18).
  int gpus = 0;
  /// Of the search in each group; chains: decision 120.
  solver::SearchEffort effort{.chains = 300};
};

/// Number of groups: min(shards, GPUs / gpus), at least 1. @param gpus  as GroupOptions::gpus
std::size_t group_count(const model::Cluster& cluster, std::size_t shards, std::int64_t gpus);

/// Result of one regroup round.
struct RegroupResult {
  std::int64_t groups = 0;    ///< groups with machines
  std::int64_t improved = 0;  ///< groups whose search gained
};

/// One regroup round (large neighbourhoods: Shaw 1998). The machines are distributed to at most as
/// many groups as shards. A group gets the jobs placed inside it and a part of the unplaced ones
/// (in odd rounds by home, otherwise drawn), searches (`solver::search`), and returns all jobs to
/// the shards. A gang over several groups keeps its place. `spanning` becomes the jobs that then
/// use machines of several shards.
///
/// Each rank passes its part of the placement, which is rebuilt; the result does not depend on the
/// owners. Messages: two all-to-alls and one all-gather, in all 32 B per placed task and 8 B per
/// unplaced job, twice; with limits also those of `LimitAllocation::distribute_slack`, which gives
/// groups allowances as it does shards; if ranks have parts of the records, three more with
/// records.
RegroupResult regroup(const comm::Communicator& comm, const Decomposition& decomposition,
                      const DistributedPlacement& placement, const GroupDraw& draw,
                      const GroupOptions& search);

}  // namespace berth::coordinator
