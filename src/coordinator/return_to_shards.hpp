// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "content_exchange.hpp"

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/regroup.hpp"
#include "berth/model/placement.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {

/// The end of a search over other pieces than the shards: each job returns to the shard of its
/// machines, all ranks learn of jobs that span shards, unplaced jobs are distributed by id.
class ReturnToShards {
 public:
  ReturnToShards(const comm::Communicator& comm, const Decomposition& decomposition,
                 ContentExchange& exchange)
      : comm_(comm), decomposition_(decomposition), exchange_(exchange) {}

  void add(const model::Placement& placed, std::span<const JobId> waiting);
  /// This job keeps its machines, which are of several shards.
  void keep_in_place(const model::JobPlacement& placed) { spanning_.push_back(placed); }
  /// This job keeps its machines, all of this shard, which is one of this rank.
  void keep_in_place(ShardId shard, const model::JobPlacement& placed) {
    inside_.emplace_back(shard, placed);
  }

  /// Before the search: keeps the records of the jobs in its pieces, of those kept in place, and of
  /// those that spanned shards before.
  void retain_records(const std::map<ShardId, PieceContent>& pieces,
                      const model::Placement& spanning) const;
  /// The jobs of this rank that keep their machines during the search.
  [[nodiscard]] model::Placement kept_in_place() const;

  /// Collective. This rank's shards are made anew of what they were given; `spanning` becomes what
  /// lies over several shards, ascending JobId.
  void finish(std::span<solver::Shard> mine, model::Placement& spanning);

 private:
  const comm::Communicator& comm_;
  const Decomposition& decomposition_;
  ContentExchange& exchange_;
  std::vector<std::pair<ShardId, model::JobPlacement>> inside_;
  model::Placement spanning_;
};

}  // namespace berth::coordinator
