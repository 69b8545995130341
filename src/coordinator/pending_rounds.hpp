// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/checkpoint.hpp"
#include "berth/coordinator/grant.hpp"
#include "berth/solver/shard_bidding.hpp"
#include "berth/strads/commit.hpp"
#include "berth/strads/pipeline.hpp"

namespace berth::coordinator {

/// What left for the destinations in one round.
struct PushedRound {
  std::vector<solver::JobOffer> offers;
  std::vector<solver::Bid> bids;
  Claims claims;
};

/// BidRounds that wait for their grants, and which of their jobs have changed since. The same on
/// all ranks.
class PendingRounds {
 public:
  /// @param depth  rounds a bid may be old when it is granted
  explicit PendingRounds(int depth) : depth_(depth), rounds_(static_cast<std::size_t>(depth)) {}

  /// Takes this round in and gives back the one that is due, once there is one.
  std::optional<PushedRound> exchange(PushedRound pushed) {
    return rounds_.exchange(std::move(pushed));
  }

  /// How often the job has changed so far.
  [[nodiscard]] std::uint32_t version(JobId job) const;
  /// Of all jobs, for the commit rule, which counts what it changes.
  [[nodiscard]] strads::Versions& versions() { return versions_; }

  /// Some earlier offer of the job has not been answered yet.
  [[nodiscard]] bool has(JobId job) const;
  [[nodiscard]] std::vector<JobId> jobs() const;
  /// Oldest first, for a checkpoint.
  [[nodiscard]] std::vector<PendingRound> list() const;

  /// Jobs on their way that their own shard has placed meanwhile: their bids are void. Collective.
  void invalidate_placed(const comm::Communicator& comm, std::span<const solver::Shard> mine);

 private:
  int depth_;
  strads::Versions versions_;  ///< of the jobs; the machines' are their owner's business
  strads::Pipeline<PushedRound> rounds_;
};

}  // namespace berth::coordinator
