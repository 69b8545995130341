// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/model/placement.hpp"
#include "berth/partition/partition.hpp"
#include "berth/solver/shard_bidding.hpp"

namespace berth::coordinator {

/// A grant was refused: the pair is left alone for some rounds. Trivially copyable.
struct Refusal {
  JobId job;
  ShardId shard;
  int round = 0;
};

/// A round on its way (`RoundOptions::depth`): what was offered, and the bids that still count.
struct PendingRound {
  std::vector<solver::JobOffer> offers;
  std::vector<solver::Bid> bids;
};

/// Where the rounds stand, beside the shards' content. The same on every rank.
struct RoundState {
  int round = 0;        ///< the last one that ended; 0 = after the local plans
  int regroups = 0;     ///< how many of them, the last ones, drew new groups of pods
  int idle_rounds = 0;  ///< at its end, in a row and of one kind
  std::int64_t shards = 0;
  model::Placement spanning = {};          ///< jobs that lie over several shards; ascending JobId
  std::vector<Refusal> refusals = {};      ///< still remembered; ascending (job, shard)
  std::vector<PendingRound> pending = {};  ///< oldest first
};

/// What shards hold, one after the other, as a flat stream for messages and files.
using ContentStream = std::vector<std::int64_t>;

/// Of the shards first, ..., last - 1, in that order. Complete on rank 0, empty elsewhere; a
/// function of the shards alone, not of who owns them. Collective.
ContentStream gather_contents(const comm::Communicator& comm, std::span<const solver::Shard> mine,
                              std::int64_t first, std::int64_t last);

/// What rank 0 has goes to the owners of the shards. @return this rank's. Collective.
ContentStream scatter_contents(const comm::Communicator& comm,
                               std::span<const std::int64_t> contents,
                               const partition::Ownership& owners);

/// Gives each of this rank's shards its content back. @pre the shards are as they were before
/// `plan`; the stream names each of them. Throws std::out_of_range when it does not.
void restore_contents(std::span<const std::int64_t> contents, std::span<solver::Shard> mine);

/// All jobs in there.
std::vector<JobId> jobs_of(std::span<const std::int64_t> contents);

}  // namespace berth::coordinator
