// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "berth/comm/communicator.hpp"
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
/// {piece, kind, length, values}.
class Post {
 public:
  Post(const comm::Communicator& comm, const partition::Ownership& owners)
      : comm_(comm), owners_(owners), to_(static_cast<std::size_t>(comm.size())) {}

  void add(ShardId piece, Kind kind, const model::JobPlacement& placed);
  void add(ShardId piece, JobId waiting);

  /// Collective. By piece of this rank, jobs ascending.
  std::map<ShardId, Content> deliver();

 private:
  void add(ShardId piece, Kind kind, std::span<const std::int64_t> values);
  /// What came; what was sent is gone by then, so that neither lies about twice.
  std::vector<std::int64_t> exchange();
  static void put(Content& to, Kind kind, std::span<const std::int64_t> values);

  const comm::Communicator& comm_;
  const partition::Ownership& owners_;
  std::vector<std::vector<std::int64_t>> to_;  ///< by rank
};

/// The pieces a job lies in.
std::set<ShardId> pieces_of(const model::JobPlacement& placed, std::span<const ShardId> of_machine);

}  // namespace berth::coordinator
