// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bidder_selection.hpp"
#include "pending_rounds.hpp"
#include "tabu_list.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/coordinate.hpp"
#include "berth/planner_model/precedence.hpp"

namespace berth::coordinator {

/// The rounds of offers and bids. All functions are collective; state other than shards is equal on
/// all ranks.
class BidRounds {
 public:
  /// Continues from the setting's `start`, whose spanning jobs must outlive this: offers do not
  /// change them. The context must outlive this too.
  BidRounds(const comm::Communicator& comm, const planner_model::Valuation& valuation,
            JobRecords& jobs, std::span<solver::Shard> mine, const RoundSetting& setting);

  /// Runs one round. Returns equal reports on all ranks, without objective and cost.
  RoundReport step(int round);

  [[nodiscard]] std::vector<Refusal> refusals() const { return tabu_list_.list(); }
  [[nodiscard]] std::vector<PendingRound> pending() const { return pending_.list(); }

 private:
  /// An offer with the precedence of its job, whose record may be on another rank.
  struct RankedOffer {
    solver::JobOffer offer;
    planner_model::Precedence precedence;
  };

  /// Result of a grant.
  struct Outcome {
    JobId job;
    ShardId shard;
    double gain = 0.0;       ///< 0 = refused
    std::int64_t later = 0;  ///< 1 = the shard had committed another job before
  };

  void gather_room();
  [[nodiscard]] std::vector<solver::JobOffer> schedule(int round) const;
  [[nodiscard]] std::vector<RankedOffer> choose(std::span<const RankedOffer> offers, int most,
                                                int round) const;
  void broadcast_records(std::span<const solver::JobOffer> offers);

  [[nodiscard]] PushedRound push(std::vector<solver::JobOffer> offers, int round) const;
  [[nodiscard]] Claims claims_of(std::span<const solver::JobOffer> offers) const;
  [[nodiscard]] std::optional<std::set<BidRequest>> request_bids(
      std::span<const solver::JobOffer> offers, int round) const;
  [[nodiscard]] std::vector<std::vector<JobId>> jobs_to_bid_on(
      const PushedRound& pushed, const std::optional<std::set<BidRequest>>& requested) const;
  [[nodiscard]] std::vector<solver::Bid> bids(
      const PushedRound& pushed, const std::optional<std::set<BidRequest>>& requested) const;

  void pull(const PushedRound& due, RoundReport& report);
  [[nodiscard]] std::vector<Outcome> realise(std::span<const solver::Bid> grants);
  void confirm(std::span<const solver::JobOffer> offers, std::span<const Outcome> outcomes,
               int round);
  void improve();

  const comm::Communicator& comm_;
  const planner_model::Valuation& valuation_;
  JobRecords& jobs_;
  std::span<solver::Shard> mine_;
  RoundOptions options_;
  LimitAllocation* allocation_;
  std::uint64_t seed_;
  const model::Placement& spanning_;
  std::unordered_map<ShardId, std::size_t> position_;  ///< in mine_
  std::map<ShardId, double> room_;  ///< GPUs that grants of one round may ask for
  TabuList tabu_list_;
  PendingRounds pending_;
};

}  // namespace berth::coordinator
