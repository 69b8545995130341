// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_store.hpp"
#include "berth/model/placement.hpp"
#include "berth/partition/partition.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {

/// A grant was refused: the pair is left alone for some rounds. Trivially copyable.
struct Refusal {
  JobId job;
  ShardId shard;
  int round = 0;
};

/// A round on its way (`RoundOptions::depth`): what was offered, and the bids that still count.
struct Flight {
  std::vector<solver::Offer> offers;
  std::vector<solver::Bid> bids;
};

/// Where the rounds stand, beside the shards' content. The same on every rank.
struct RoundState {
  int round = 0;        ///< the last one that ended; 0 = after the local plans
  int regroups = 0;     ///< how many of them, the last ones, dealt the pods anew
  int idle_rounds = 0;  ///< at its end, in a row and of one kind
  std::int64_t shards = 0;
  model::Placement spanning = {};      ///< jobs that lie over several shards; ascending JobId
  std::vector<Refusal> refusals = {};  ///< still remembered; ascending (job, shard)
  std::vector<Flight> flights = {};    ///< oldest first
};

/// What all shards hold, in shard order, as a flat stream for messages and files. Complete on
/// rank 0, empty elsewhere; a function of the shards alone, not of who owns them. Collective.
std::vector<std::int64_t> gather_contents(const comm::Communicator& comm,
                                          std::span<const solver::Shard> mine);

/// Gives each of this rank's shards its content back. @pre the shards are as they were before
/// `plan`; the stream names each of them. Throws std::out_of_range when it does not.
void restore_contents(std::span<const std::int64_t> stream, std::span<solver::Shard> mine);

/// The jobs in what `gather_contents` wrote, for the owners of their shards.
JobLists jobs_in_contents(std::span<const std::int64_t> stream, const partition::Ownership& owners,
                          std::size_t ranks);

}  // namespace berth::coordinator
