// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "berth/base/archive.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/partition/partition.hpp"

namespace berth::coordinator {

/// Content of one piece of the plan: a shard, a group of pods, or some task profiles.
struct PieceContent {
  model::Placement placed = {};
  model::Placement pinned = {};  ///< also uses machines outside the piece, and keeps its place
  std::vector<JobId> waiting = {};
};

enum class ContentKind : std::uint8_t { placed, pinned, waiting };

/// Sends content to the owners of pieces, which are numbered like shards, together with the records
/// of the jobs.
class ContentExchange {
 public:
  ContentExchange(const comm::Communicator& comm, const partition::Ownership& owners,
                  JobRecords& records)
      : comm_(comm),
        owners_(owners),
        records_(records),
        to_(static_cast<std::size_t>(comm.size())),
        jobs_(to_.size()) {}

  void add(ShardId piece, ContentKind kind, const model::JobPlacement& placed);
  void add(ShardId piece, JobId waiting);

  /// Returns the received content by piece of this rank, jobs ascending. Collective.
  std::map<ShardId, PieceContent> deliver();

 private:
  const comm::Communicator& comm_;
  const partition::Ownership& owners_;
  JobRecords& records_;
  std::vector<ByteWriter> to_;  ///< by rank
  JobLists jobs_;               ///< by rank: jobs in `to_`, whose records are sent too
};

/// All jobs in these contents.
std::vector<JobId> jobs_of(const std::map<ShardId, PieceContent>& contents);

/// The pieces that this placement uses machines of.
std::set<ShardId> pieces_of(const model::JobPlacement& placed, std::span<const ShardId> of_machine);

}  // namespace berth::coordinator
