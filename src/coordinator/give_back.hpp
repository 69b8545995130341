// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "post.hpp"

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/regroup.hpp"
#include "berth/model/placement.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {

/// The end of a search over other pieces than the shards: each job goes back to the shard it lies
/// in, one over several shards is everybody's knowledge, who waits is dealt round.
class GiveBack {
 public:
  GiveBack(const comm::Communicator& comm, const Terrain& terrain, Post& post)
      : comm_(comm), terrain_(terrain), post_(post) {}

  void add(const model::Placement& placed, std::span<const JobId> waiting);
  /// Stays over the shards it lies in.
  void stay(const model::JobPlacement& over_shards) { over_shards_.push_back(over_shards); }
  /// Stays in this shard, one of this rank's.
  void stay(ShardId shard, const model::JobPlacement& placed) { held_.emplace_back(shard, placed); }

  /// The search begins: this rank needs the jobs of its pieces, those that stay, and those that
  /// lay over several shards before.
  void keep_only(const std::map<ShardId, Content>& pieces, const model::Placement& spanning) const;
  /// What stays over the borders of the pieces, of what this rank said so.
  [[nodiscard]] model::Placement staying() const;

  /// Collective. This rank's shards are made anew of what they were given; `spanning` becomes what
  /// lies over several shards, ascending JobId.
  void finish(std::span<solver::Shard> mine, model::Placement& spanning);

 private:
  const comm::Communicator& comm_;
  const Terrain& terrain_;
  Post& post_;
  std::vector<std::pair<ShardId, model::JobPlacement>> held_;
  model::Placement over_shards_;
};

}  // namespace berth::coordinator
