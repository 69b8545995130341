// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/horizon_rounds.hpp"

#include "horizon_messages.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "berth/strads/commit.hpp"
#include "berth/strads/schedule.hpp"

namespace berth::coordinator {

using solver::HorizonBid;
using solver::HorizonOffer;

HorizonRounds::HorizonRounds(const horizon::Problem& problem, const solver::HorizonBound& bound,
                             std::size_t shards, const horizon::Plan* kept, ShardRanks* ranks,
                             const StopToken& stop, const HorizonRoundOptions& options)
    : problem_(problem),
      shards_(problem, bound, shards, kept),
      alone_(stop),
      ranks_(ranks == nullptr ? alone_ : *ranks),
      stop_(stop),
      options_(options),
      cost_(shards_.size(), 0.0),
      offers_(shards_.size()) {}

/// One message to every shard: make(shard) is its bytes.
template <class Make>
std::vector<ShardMessage> HorizonRounds::ask_all(const Make& make) {
  std::vector<ShardMessage> messages;
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    messages.push_back({.shard = ShardId(s), .bytes = make(ShardId(s))});
  }
  return ranks_.ask(std::move(messages), rank_of_shard_);
}

void HorizonRounds::keep_status(std::span<const ShardMessage> answers) {
  for (const ShardMessage& answer : answers) {
    auto status = from_bytes<ShardStatus>(answer.bytes);
    cost_[answer.shard.index()] = status.cost;
    offers_[answer.shard.index()] = std::move(status.offers);
    cut_ = cut_ || status.cut;
  }
}

void HorizonRounds::plan() {
  shards_.deal(stop_);
  begin();
}

bool HorizonRounds::resume(const PlanInShards& from) {
  if (!shards_.restore(from.plan, from.homes)) return false;
  begin();
  return true;
}

/// Hands the shards to ranks: those with most work first, each to the rank with the least.
void HorizonRounds::begin() {
  std::vector<solver::HorizonShardTask> tasks = shards_.tasks(options_.machine_visits);
  std::vector<std::int64_t> loads;
  for (const auto& task : tasks) {
    loads.push_back(std::ssize(task.jobs.names) * std::ssize(task.jobs.problem.machines));
  }
  rank_of_shard_ = strads::dispatch(loads, static_cast<int>(ranks_.size()));
  keep_status(ask_all([&](ShardId shard) {
    std::string bytes = message(ShardRequest::begin, bytes_of(tasks[shard.index()]));
    tasks[shard.index()] = {};
    return bytes;
  }));
  shards_.start();
  cost_over_all_ = cost_of(problem_, shards_.plan());
}

double HorizonRounds::cost() const {
  double sum = cost_over_all_;
  for (const double of : cost_) sum += of;
  return sum;
}

/// The best offers of each shard, then the best of these.
std::vector<HorizonOffer> HorizonRounds::schedule(int round) const {
  const auto choose = [&](const std::vector<HorizonOffer>& offers, std::size_t most) {
    std::vector<strads::Block> blocks;
    for (const HorizonOffer& offer : offers) {
      blocks.push_back({.id = offer.job.value(), .importance = offer.regret});
    }
    std::vector<HorizonOffer> chosen;
    for (const std::size_t i : strads::schedule(blocks, most, round, 0)) {
      chosen.push_back(offers[i]);
    }
    return chosen;
  };
  std::vector<HorizonOffer> all;
  for (const auto& offers : offers_) {
    const auto chosen = choose(offers, options_.offers);
    all.insert(all.end(), chosen.begin(), chosen.end());
  }
  return choose(all, options_.blocks);
}

/// In order of gain, then job, then shard; a job goes to one shard.
std::vector<HorizonBid> HorizonRounds::grant(std::span<const HorizonBid> bids) const {
  std::vector<strads::Proposal> proposals;
  for (const HorizonBid& bid : bids) {
    const std::int64_t id = (std::int64_t{bid.job.value()} << 31) + bid.shard.value();
    proposals.push_back(
        {.id = id, .gain = bid.gain, .reads = {{{strads::ItemKind::job, bid.job.value()}, 0}}});
  }
  strads::Versions versions;
  strads::CommitLog log({});
  const auto verdicts = strads::commit(proposals, versions, log);
  std::vector<HorizonBid> granted;
  for (const std::size_t i : strads::commit_order(proposals)) {
    if (verdicts[i] == strads::CommitVerdict::committed) granted.push_back(bids[i]);
  }
  return granted;
}

HorizonRoundReport HorizonRounds::step(int round) {
  const std::vector<HorizonOffer> offers = schedule(round);
  HorizonRoundReport report{.offers = std::ssize(offers)};
  std::vector<HorizonBid> bids;
  for (const ShardMessage& answer : ask_all([&](ShardId shard) {
         return message(ShardRequest::bid, bytes_of(shards_.guests(shard, offers)));
       })) {
    const auto own = from_bytes<std::vector<HorizonBid>>(answer.bytes);
    bids.insert(bids.end(), own.begin(), own.end());
  }
  report.bids = std::ssize(bids);
  std::map<ShardId, std::vector<HorizonBid>> granted;
  for (const HorizonBid& bid : grant(bids)) granted[bid.shard].push_back(bid);
  std::map<ShardId, std::vector<JobId>> left;
  for (const ShardMessage& answer : ask_all(
           [&](ShardId shard) { return message(ShardRequest::take, to_bytes(granted[shard])); })) {
    const auto taken = from_bytes<std::vector<JobId>>(answer.bytes);
    report.moved += std::ssize(taken);
    report.refused += std::ssize(granted[answer.shard]) - std::ssize(taken);
    for (const JobId job : taken) {
      left[shards_.home(job)].push_back(job);
      shards_.move(job, answer.shard);
    }
  }
  keep_status(ask_all([&](ShardId shard) {
    return message(ShardRequest::settle,
                   to_bytes(SettleRequest{.left = left[shard],
                                          .seed = static_cast<std::uint64_t>(round),
                                          .share = options_.round_share}));
  }));
  return report;
}

void HorizonRounds::collect() {
  shards_.start();
  for (const ShardMessage& answer :
       ask_all([](ShardId) { return message(ShardRequest::collect, {}); })) {
    const auto part = from_bytes<ShardPlan>(answer.bytes);
    shards_.add(answer.shard, part.names, part.plan);
  }
}

PlanInShards HorizonRounds::state() {
  collect();
  PlanInShards state{.plan = shards_.plan(), .homes = {}};
  for (const ShardId home : shards_.homes()) state.homes.push_back(home.value());
  return state;
}

horizon::Plan HorizonRounds::completed() {
  collect();
  return shards_.completed(stop_);
}

}  // namespace berth::coordinator
