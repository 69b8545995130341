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
                 JobRecords& records, ContentExchange& exchange)
      : comm_(comm), decomposition_(decomposition), records_(records), exchange_(exchange) {}

  void add(const model::Placement& placed, std::span<const JobId> waiting);
  /// Records a job that keeps its machines, which belong to several shards.
  void keep_in_place(const model::JobPlacement& placed) { spanning_.push_back(placed); }
  /// Records a job that keeps its machines, which all belong to `shard` of this rank.
  void keep_in_place(ShardId shard, const model::JobPlacement& placed) {
    inside_.emplace_back(shard, placed);
  }

  /// Before the search: keeps the records of the jobs in its pieces, of those kept in place, and of
  /// those that spanned shards before.
  void retain_records(const std::map<ShardId, PieceContent>& pieces,
                      const model::Placement& spanning);
  /// The jobs of this rank that keep their machines during the search.
  [[nodiscard]] model::Placement kept_in_place() const;

  /// Rebuilds this rank's shards from the returned jobs; `spanning` becomes the jobs over several
  /// shards, ascending JobId. Collective.
  void finish(std::span<solver::Shard> mine, model::Placement& spanning);

 private:
  const comm::Communicator& comm_;
  const Decomposition& decomposition_;
  JobRecords& records_;
  ContentExchange& exchange_;
  std::vector<std::pair<ShardId, model::JobPlacement>> inside_;
  model::Placement spanning_;
};

}  // namespace berth::coordinator
