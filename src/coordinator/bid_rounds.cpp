// SPDX-License-Identifier: Apache-2.0
#include "bid_rounds.hpp"

#include "objective.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

#include "berth/planner_model/precedence.hpp"
#include "berth/solver/shard_bidding.hpp"
#include "berth/solver/shard_planning.hpp"
#include "berth/strads/commit.hpp"
#include "berth/strads/schedule.hpp"

namespace berth::coordinator {

using solver::Bid;
using solver::JobOffer;
using solver::Shard;

BidRounds::BidRounds(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                     JobRecords& jobs, std::span<Shard> mine, const RoundSetting& setting)
    : comm_(comm),
      valuation_(valuation),
      jobs_(jobs),
      mine_(mine),
      options_(setting.options),
      allocation_(setting.context.allocation),
      seed_(setting.context.run.seed),
      spanning_(setting.start.spanning),
      tabu_list_(setting.start.refusals),
      pending_(setting.options.depth) {
  for (std::size_t s = 0; s < mine_.size(); ++s) position_.emplace(mine_[s].id(), s);
  gather_room();
  for (const PendingRound& pending_round : setting.start.pending) {
    pending_.exchange({pending_round.offers, pending_round.bids, claims_of(pending_round.offers)});
  }
}

RoundReport BidRounds::step(int round) {
  const comm::Communicator::TraceSpan span(comm_, "round", round);
  tabu_list_.expire_before(round - options_.tabu_rounds);
  std::vector<JobOffer> offers = schedule(round);
  broadcast_records(offers);
  PushedRound pushed = push(std::move(offers), round);
  RoundReport report{
      .round = round, .offers = std::ssize(pushed.offers), .bids = std::ssize(pushed.bids)};
  for (const JobOffer& offer : pushed.offers) report.importance += offer.regret;
  if (const auto due = pending_.exchange(std::move(pushed))) pull(*due, report);
  improve();
  update_prices(comm_, valuation_, mine_);
  pending_.invalidate_placed(comm_, mine_);
  jobs_.retain_only(mine_, spanning_, pending_.jobs());
  return report;
}

/// Gathers the GPUs of each shard that the grants of a round may claim.
void BidRounds::gather_room() {
  struct ShardRoom {
    ShardId shard;
    double gpus = 0.0;
  };
  std::vector<ShardRoom> rooms;
  for (const Shard& shard : mine_) rooms.push_back({shard.id(), options_.claim * shard.gpus()});
  for (const ShardRoom& r : comm_.all_gather_varying<ShardRoom>(rooms)) room_[r.shard] = r.gpus;
}

/// The best offers of each shard whose turn it is, then the best of these; equal on all ranks.
std::vector<JobOffer> BidRounds::schedule(int round) const {
  std::vector<RankedOffer> offers;
  for (const Shard& shard : mine_) {
    if (!strads::has_turn(shard.id().value(), round, options_.schedulers)) continue;
    std::vector<RankedOffer> own;
    for (const JobOffer& offer : solver::offers(shard)) {
      own.push_back({offer, planner_model::precedence(valuation_, offer.job)});
    }
    const auto more = choose(own, options_.offers, round);
    offers.insert(offers.end(), more.begin(), more.end());
  }
  std::vector<JobOffer> chosen;
  for (const RankedOffer& o :
       choose(comm_.all_gather_varying<RankedOffer>(offers), options_.blocks, round)) {
    chosen.push_back(o.offer);
  }
  return chosen;
}

std::vector<BidRounds::RankedOffer> BidRounds::choose(std::span<const RankedOffer> offers, int most,
                                                      int round) const {
  std::vector<RankedOffer> free;
  for (const RankedOffer& o : offers) {
    if (!pending_.has(o.offer.job)) free.push_back(o);
  }
  std::ranges::sort(free, std::less<>{}, &RankedOffer::precedence);
  std::vector<strads::Block> blocks;
  for (std::uint32_t rank = 0; rank < free.size(); ++rank) {
    blocks.push_back({free[rank].offer.job.value(), free[rank].offer.regret, rank});
  }
  std::vector<RankedOffer> chosen;
  const auto count = static_cast<std::size_t>(most);
  for (const std::size_t i : strads::schedule(blocks, count, round, seed_, options_.selection)) {
    chosen.push_back(free[i]);
  }
  return chosen;
}

/// Sends the records of the offered jobs to all ranks.
void BidRounds::broadcast_records(std::span<const JobOffer> offers) {
  if (!jobs_.distributed()) return;
  std::vector<JobId> own;
  for (const JobOffer& offer : offers) {
    if (position_.contains(offer.source)) own.push_back(offer.job);
  }
  jobs_.broadcast(own);
}

PushedRound BidRounds::push(std::vector<JobOffer> offers, int round) const {
  PushedRound pushed{.offers = std::move(offers), .bids = {}, .claims = {}};
  pushed.claims = claims_of(pushed.offers);
  const auto requested = request_bids(pushed.offers, round);
  pushed.bids = bids(pushed, requested);
  return pushed;
}

Claims BidRounds::claims_of(std::span<const JobOffer> offers) const {
  Claims claims{.room = room_, .gpus = {}};
  const model::WorkloadView& workload = valuation_.instance().workload;
  std::vector<JobId> jobs;
  for (const JobOffer& offer : offers) jobs.push_back(offer.job);
  planner_model::sort_by_precedence(valuation_, jobs);
  for (std::uint32_t rank = 0; rank < jobs.size(); ++rank) claims.rank[jobs[rank]] = rank;
  for (const JobOffer& offer : offers) {
    const auto milli = workload.gpu_milli(workload.job(offer.job));
    claims.gpus[offer.job] = static_cast<double>(milli) / 1000.0;
    claims.versions[offer.job] = pending_.version(offer.job);
    if (allocation_ == nullptr) continue;
    const auto quotas = allocation_->quotas_of(offer.job);
    if (!quotas.empty()) claims.quotas[offer.job] = {quotas.begin(), quotas.end()};
  }
  return claims;
}

/// The shards drawn to bid on each offer; nullopt when all shards bid. Equal on all ranks.
std::optional<std::set<BidRequest>> BidRounds::request_bids(std::span<const JobOffer> offers,
                                                            int round) const {
  const auto most = static_cast<std::size_t>(options_.bidders);
  if (room_.size() <= most + 1) return std::nullopt;
  std::vector<solver::EvictionCost> eviction_costs;
  for (const Shard& shard : mine_) {
    const auto more = solver::eviction_costs(shard);
    eviction_costs.insert(eviction_costs.end(), more.begin(), more.end());
  }
  const BidderSelection bidders(valuation_,
                                comm_.all_gather_varying<solver::EvictionCost>(eviction_costs));
  const TabuPairs refused = tabu_list_.pairs();
  std::vector<BidRequest> requests;
  for (const JobOffer& offer : offers) {
    if (!position_.contains(offer.source)) continue;
    const auto more = bidders.of(offer, refused, most, round, seed_);
    requests.insert(requests.end(), more.begin(), more.end());
  }
  requests = comm_.all_gather_varying<BidRequest>(requests);
  return std::set<BidRequest>(requests.begin(), requests.end());
}

/// The jobs that each shard of this rank bids on, in the order of the offers. A job's own shard
/// bids too if a quota keeps it from placing the job. O(offers + requests) where shards are drawn.
std::vector<std::vector<JobId>> BidRounds::jobs_to_bid_on(
    const PushedRound& pushed, const std::optional<std::set<BidRequest>>& requested) const {
  std::vector<std::vector<JobId>> jobs(mine_.size());
  for (const JobOffer& offer : pushed.offers) {
    const auto add = [&](ShardId shard) {
      const auto at = position_.find(shard);
      if (at != position_.end()) jobs[at->second].push_back(offer.job);
    };
    if (pushed.claims.quotas.contains(offer.job)) add(offer.source);
    if (!requested) {
      for (const Shard& shard : mine_) {
        if (shard.id() != offer.source) add(shard.id());
      }
      continue;
    }
    for (auto r = requested->lower_bound({offer.job, ShardId()});
         r != requested->end() && r->job == offer.job; ++r) {
      if (r->shard != offer.source) add(r->shard);
    }
  }
  return jobs;
}

/// The bids of all shards.
std::vector<Bid> BidRounds::bids(const PushedRound& pushed,
                                 const std::optional<std::set<BidRequest>>& requested) const {
  std::vector<std::int64_t> left;
  if (allocation_ != nullptr) left = allocation_->slack();
  std::vector<Bid> all;
  comm_.agreed([&] {
    const std::vector<std::vector<JobId>> jobs = jobs_to_bid_on(pushed, requested);
    for (std::size_t s = 0; s < mine_.size(); ++s) {
      const auto more = solver::bids(mine_[s], jobs[s], left);
      all.insert(all.end(), more.begin(), more.end());
    }
  });
  return comm_.all_gather_varying<Bid>(all);
}

void BidRounds::pull(const PushedRound& due, RoundReport& report) {
  Claims claims = due.claims;
  if (allocation_ != nullptr) claims.quota_slack = allocation_->slack();
  const auto grants = grant(due.bids, tabu_list_.pairs(), claims, pending_.versions());
  const std::vector<Outcome> outcomes = realise(grants);
  confirm(due.offers, outcomes, report.round);
  report.grants = std::ssize(grants);
  for (const Outcome& outcome : outcomes) {
    ++(outcome.gain > 0.0   ? report.commits
       : outcome.later != 0 ? report.conflicts
                            : report.refusals);
  }
}

/// The destinations place the granted jobs or refuse them.
std::vector<BidRounds::Outcome> BidRounds::realise(std::span<const Bid> grants) {
  std::vector<Outcome> outcomes;
  comm_.agreed([&] {
    std::vector<std::vector<const Bid*>> granted(mine_.size());
    for (const Bid& bid : grants) {
      const auto at = position_.find(bid.shard);
      if (at != position_.end()) granted[at->second].push_back(&bid);
    }
    for (std::size_t s = 0; s < mine_.size(); ++s) {
      std::int64_t later = 0;
      for (const Bid* bid : granted[s]) {
        const double gain = solver::realise(
            mine_[s], bid->job, strads::least_gain(bid->gain, options_.theta), bid->drawn);
        outcomes.push_back({bid->job, bid->shard, gain, later});
        if (gain > 0.0) later = 1;
      }
    }
  });
  return comm_.all_gather_varying<Outcome>(outcomes);
}

/// The sources forget the jobs that other shards have placed.
void BidRounds::confirm(std::span<const JobOffer> offers, std::span<const Outcome> outcomes,
                        int round) {
  std::map<JobId, ShardId> source;
  for (const JobOffer& offer : offers) source.emplace(offer.job, offer.source);
  for (const Outcome& outcome : outcomes) {
    if (outcome.gain <= 0.0) {
      tabu_list_.add({outcome.job, outcome.shard, round});
      continue;
    }
    const ShardId from = source.at(outcome.job);
    if (from == outcome.shard) continue;  // its own bid: the slack of all shards admitted it
    const auto at = position_.find(from);
    if (at != position_.end()) mine_[at->second].forget(outcome.job);
  }
}

/// Ejection search of each shard, with its share of the slack of limits.
void BidRounds::improve() {
  if (allocation_ != nullptr) allocation_->distribute_slack(mine_);
  comm_.agreed([&] {
    for (Shard& shard : mine_) {
      if (allocation_ != nullptr) solver::fill_idle_capacity(shard);
      solver::improve(shard);
    }
  });
  if (allocation_ != nullptr) allocation_->freeze(mine_);
}

}  // namespace berth::coordinator
