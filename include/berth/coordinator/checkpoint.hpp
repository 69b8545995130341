// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/model/placement.hpp"
#include "berth/partition/partition.hpp"
#include "berth/solver/shard_bidding.hpp"

namespace berth::coordinator {

/// A refused grant: the pair is tabu for some rounds. Trivially copyable.
struct Refusal {
  JobId job;
  ShardId shard;
  int round = 0;
};

/// A round whose bids are not granted yet (`RoundOptions::depth`): its offers and its valid bids.
struct PendingRound {
  std::vector<solver::JobOffer> offers;
  std::vector<solver::Bid> bids;
};

template <class Archive>
void describe(Archive& archive, PendingRound& pending) {
  archive(pending.offers, pending.bids);
}

/// State of the rounds beside the shards' content. Equal on all ranks.
struct RoundState {
  int round = 0;        ///< last completed round; 0 = after the local plans
  int regroups = 0;     ///< number of regroup rounds among them, which come last
  int idle_rounds = 0;  ///< consecutive last rounds of one kind without enough gain
  std::int64_t shards = 0;
  model::Placement spanning = {};          ///< jobs over several shards; ascending JobId
  std::vector<Refusal> refusals = {};      ///< tabu pairs; ascending (job, shard)
  std::vector<PendingRound> pending = {};  ///< oldest first
};

template <class Archive>
void describe(Archive& archive, RoundState& s) {
  archive(s.round, s.regroups, s.idle_rounds, s.shards, s.spanning, s.refusals, s.pending);
}

/// Contents of shards (solver::ShardContent) as bytes, which code that only forwards them does not
/// parse.
using ShardContents = std::map<ShardId, std::string>;

/// Contents of the shards first, ..., last - 1; complete on rank 0, empty elsewhere. Independent of
/// the owners of the shards. Collective.
ShardContents gather_contents(const comm::Communicator& comm, std::span<const solver::Shard> mine,
                              std::int64_t first, std::int64_t last);

/// Sends rank 0's contents to the owners of the shards. @return contents of this rank's shards.
/// Collective.
ShardContents scatter_contents(const comm::Communicator& comm, const ShardContents& contents,
                               const partition::Ownership& owners);

/// Restores the content of each of this rank's shards. Throws std::out_of_range when `contents`
/// lack one of them. @pre the shards are not planned
void restore_contents(const ShardContents& contents, std::span<solver::Shard> mine);

/// All jobs in these contents.
std::vector<JobId> jobs_of(const ShardContents& contents);

}  // namespace berth::coordinator
