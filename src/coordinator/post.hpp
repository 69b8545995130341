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
struct Content {
  model::Placement placed = {};
  model::Placement pinned = {};  ///< lies over its border
  std::vector<JobId> waiting = {};
};

enum class Kind : std::int64_t { placed, pinned, waiting };

/// Sends content to the owners of pieces, which are numbered like shards: records
/// {piece, kind, length, values}. The jobs' own records go with it.
class Post {
 public:
  Post(const comm::Communicator& comm, const partition::Ownership& owners,
       const JobRecords& records)
      : comm_(comm),
        owners_(owners),
        records_(records),
        to_(static_cast<std::size_t>(comm.size())),
        jobs_(to_.size()) {}

  void add(ShardId piece, Kind kind, const model::JobPlacement& placed);
  void add(ShardId piece, JobId waiting);

  /// Collective. By piece of this rank, jobs ascending.
  std::map<ShardId, Content> deliver();

 private:
  void add(ShardId piece, Kind kind, JobId job, std::span<const std::int64_t> values);
  /// What came; what was sent is gone by then, so that neither lies about twice.
  std::vector<std::int64_t> exchange();
  static void put(Content& to, Kind kind, std::span<const std::int64_t> values);

  const comm::Communicator& comm_;
  const partition::Ownership& owners_;
  const JobRecords& records_;
  using Streams = std::vector<std::vector<std::int64_t>>;
  Streams to_;     ///< by rank
  JobLists jobs_;  ///< named there, where records go
};

/// All jobs in these contents.
std::vector<JobId> jobs_of(const std::map<ShardId, Content>& contents);

/// The pieces a job lies in.
std::set<ShardId> pieces_of(const model::JobPlacement& placed, std::span<const ShardId> of_machine);

}  // namespace berth::coordinator
