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

/// Offers, bids and claims of one round.
struct PushedRound {
  std::vector<solver::JobOffer> offers;
  std::vector<solver::Bid> bids;
  Claims claims;
};

/// Rounds whose bids are not granted yet, and the versions of jobs. Equal on all ranks.
class PendingRounds {
 public:
  /// @param depth  rounds between a bid and its grant
  explicit PendingRounds(int depth) : depth_(depth), rounds_(static_cast<std::size_t>(depth)) {}

  /// Appends this round; returns the round of `depth` rounds before, if any.
  std::optional<PushedRound> exchange(PushedRound pushed) {
    return rounds_.exchange(std::move(pushed));
  }

  /// Number of changes of the job.
  [[nodiscard]] std::uint32_t version(JobId job) const;
  /// Versions of all jobs, for the commit rule, which counts the changes that it makes.
  [[nodiscard]] strads::Versions& versions() { return versions_; }

  /// True when an earlier offer of the job is pending.
  [[nodiscard]] bool has(JobId job) const;
  [[nodiscard]] std::vector<JobId> jobs() const;
  /// Pending rounds, oldest first, for a checkpoint.
  [[nodiscard]] std::vector<PendingRound> list() const;

  /// Changes the version of pending jobs that their own shard has placed since, which makes their
  /// bids stale. Collective.
  void invalidate_placed(const comm::Communicator& comm, std::span<const solver::Shard> mine);

 private:
  int depth_;
  strads::Versions versions_;  ///< of jobs; owners of shards check machines themselves
  strads::Pipeline<PushedRound> rounds_;
};

}  // namespace berth::coordinator
