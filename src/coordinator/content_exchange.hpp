// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/partition/partition.hpp"

namespace berth::coordinator {

/// What one piece of the plan is given: a shard, a group of pods, some kinds of jobs.
struct PieceContent {
  model::Placement placed = {};
  model::Placement pinned = {};  ///< uses machines outside the piece too, and stays
  std::vector<JobId> waiting = {};
};

enum class ContentKind : std::int64_t { placed, pinned, waiting };

/// Sends content to the owners of pieces, which are numbered like shards: records
/// {piece, kind, length, values}. The jobs' own records go with it.
class ContentExchange {
 public:
  ContentExchange(const comm::Communicator& comm, const partition::Ownership& owners,
                  JobRecords& records)
      : comm_(comm),
        owners_(owners),
        records_(records),
        streams_(static_cast<std::size_t>(comm.size())),
        jobs_(streams_.size()) {}

  void add(ShardId piece, ContentKind kind, const model::JobPlacement& placed);
  void add(ShardId piece, JobId waiting);

  /// Collective. By piece of this rank, jobs ascending.
  std::map<ShardId, PieceContent> deliver();

 private:
  void add(ShardId piece, ContentKind kind, JobId job, std::span<const std::int64_t> values);
  /// What was received; the streams that were sent are freed before, so that memory holds one of
  /// them.
  std::vector<std::int64_t> exchange_streams();
  static void insert(PieceContent& to, ContentKind kind, std::span<const std::int64_t> values);

  const comm::Communicator& comm_;
  const partition::Ownership& owners_;
  JobRecords& records_;
  using Streams = std::vector<std::vector<std::int64_t>>;
  Streams streams_;  ///< by rank
  JobLists jobs_;    ///< by rank, those in `streams_`: their records are sent too
};

/// All jobs in these contents.
std::vector<JobId> jobs_of(const std::map<ShardId, PieceContent>& contents);

/// The pieces that this placement uses machines of.
std::set<ShardId> pieces_of(const model::JobPlacement& placed, std::span<const ShardId> of_machine);

}  // namespace berth::coordinator
