// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"

namespace berth::partition {

struct PartitionOptions {
  std::int32_t shards = 0;  ///< number of shards; 0 = default_shards(cluster)
};

/// Logical pieces of the cluster: every machine is in exactly one. A function of the cluster and
/// the number of shards only, not of the ranks.
struct Shards {
  std::vector<std::vector<MachineId>> machines;  ///< by ShardId, ascending
  std::vector<ShardId> of_machine;               ///< by MachineId

  [[nodiscard]] std::size_t size() const { return machines.size(); }
};

/// The rank that computes each shard: separate from the shards, so that a plan cannot depend on it.
struct Ownership {
  std::vector<int> owner;  ///< by ShardId

  /// Shards of one rank, ascending.
  [[nodiscard]] std::vector<ShardId> of_rank(int rank) const;
};

/// Default number of shards: min(floor(GPUs / 4096), pods), at least 1.
std::int32_t default_shards(const model::Cluster& cluster);

/// Splits along the fabric: whole pods while there are enough of them, else whole racks of one
/// pod, else machines of one rack in id order; never more shards than machines (at least one
/// shard, empty when there are no machines).
///
/// Deals whole pods, the largest first, to the shard that so far holds least of the pod's machine
/// classes (capacity per class, each relative to its total); no shard gets more than its even
/// number of pods, rounded up; ties by id. Within a pod the shards are contiguous ranges of racks,
/// balanced in GPUs.
///
/// O(machines + pods x shards x classes).
Shards split(const model::Cluster& cluster, const PartitionOptions& options = {});

/// Deals shards to ranks: the largest first by GPUs (then machines), to the rank with the least so
/// far (LPT, Graham 1969). With more ranks than shards, some ranks own none. O(shards log shards +
/// shards x ranks).
Ownership own(const model::Cluster& cluster, const Shards& shards, int ranks);

}  // namespace berth::partition
