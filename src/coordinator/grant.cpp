// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/grant.hpp"

#include <algorithm>

namespace berth::coordinator {
namespace {

using solver::Bid;
using strads::ItemKind;

strads::ItemKey key_of(JobId job) { return {ItemKind::job, job.value()}; }

/// Positions of the shards in the order of `claims.room`.
std::map<ShardId, std::size_t> positions_of(const Claims& claims) {
  std::map<ShardId, std::size_t> positions;
  for (const auto& [shard, room] : claims.room) positions.emplace(shard, positions.size());
  return positions;
}

/// Hard resources of the commit rule: one per shard in the order of `claims.room`, then one per
/// quota.
std::vector<strads::SharedResource> resources_of(std::span<const Bid> bids, const Claims& claims) {
  std::map<ShardId, double> largest;
  for (const Bid& bid : bids) {
    double& most = largest[bid.shard];
    most = std::max(most, claims.gpus.at(bid.job));
  }
  std::vector<strads::SharedResource> resources;
  for (const auto& [shard, room] : claims.room) {
    resources.push_back({.capacity = std::max(room, largest[shard])});
  }
  for (const std::int64_t milli : claims.quota_slack) {
    resources.push_back({.capacity = static_cast<double>(milli)});
  }
  return resources;
}

/// @param resource  position of the bid's shard
strads::Proposal proposal_of(const Bid& bid, const Claims& claims, std::size_t resource) {
  const auto version = claims.versions.find(bid.job);
  const std::int64_t rank = claims.rank.empty() ? bid.job.value() : claims.rank.at(bid.job);
  strads::Proposal proposal{
      .id = (rank << 31) + bid.shard.value(),
      .gain = bid.gain,
      .reads = {{key_of(bid.job), version == claims.versions.end() ? 0 : version->second}},
      .use = {{resource, claims.gpus.at(bid.job)}}};
  const auto quotas = claims.quotas.find(bid.job);
  if (bid.drawn == 0 || quotas == claims.quotas.end()) return proposal;
  for (const std::uint32_t q : quotas->second) {
    proposal.use.push_back({claims.room.size() + q, static_cast<double>(bid.drawn)});
  }
  return proposal;
}

}  // namespace

std::vector<Bid> grant(std::span<const Bid> bids, const TabuPairs& tabu, const Claims& claims,
                       strads::Versions& versions) {
  const std::map<ShardId, std::size_t> positions = positions_of(claims);
  std::vector<Bid> open;
  std::vector<strads::Proposal> proposals;
  for (const Bid& bid : bids) {
    const auto position = positions.find(bid.shard);
    if (position == positions.end() || tabu.contains({bid.job, bid.shard})) continue;
    open.push_back(bid);
    proposals.push_back(proposal_of(bid, claims, position->second));
  }
  strads::CommitLog log(resources_of(open, claims));
  const auto verdicts = strads::commit(proposals, versions, log);
  std::vector<Bid> granted;
  for (const std::size_t i : strads::commit_order(proposals)) {
    if (verdicts[i] == strads::CommitVerdict::committed) granted.push_back(open[i]);
  }
  return granted;
}

}  // namespace berth::coordinator
