// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/grant.hpp"

#include <algorithm>

namespace berth::coordinator {
namespace {

using solver::Bid;
using strads::Thing;

strads::Key key_of(JobId job) { return {Thing::job, job.value()}; }

/// One hard resource per shard, in the order of `claims.room`, then one per quota.
std::vector<strads::Resource> resources_of(std::span<const Bid> bids, const Claims& claims) {
  std::map<ShardId, double> largest;
  for (const Bid& bid : bids) {
    double& most = largest[bid.shard];
    most = std::max(most, claims.gpus.at(bid.job));
  }
  std::vector<strads::Resource> resources;
  for (const auto& [shard, room] : claims.room) {
    resources.push_back({.capacity = std::max(room, largest[shard])});
  }
  for (const std::int64_t milli : claims.left) {
    resources.push_back({.capacity = static_cast<double>(milli)});
  }
  return resources;
}

strads::Proposal proposal_of(const Bid& bid, const Claims& claims) {
  const auto seen = claims.seen.find(bid.job);
  const auto room = claims.room.find(bid.shard);
  const auto resource = static_cast<std::size_t>(std::distance(claims.room.begin(), room));
  strads::Proposal proposal{
      .id = (std::int64_t{bid.job.value()} << 31) + bid.shard.value(),
      .gain = bid.gain,
      .seen = {{key_of(bid.job), seen == claims.seen.end() ? 0 : seen->second}},
      .use = {{resource, claims.gpus.at(bid.job)}}};
  const auto quotas = claims.quotas.find(bid.job);
  if (bid.drawn == 0 || quotas == claims.quotas.end()) return proposal;
  for (const std::uint32_t q : quotas->second) {
    proposal.use.push_back({claims.room.size() + q, static_cast<double>(bid.drawn)});
  }
  return proposal;
}

}  // namespace

std::vector<Bid> grant(std::span<const Bid> bids, const Tabu& tabu, const Claims& claims,
                       strads::Versions& versions) {
  std::vector<Bid> open;
  for (const Bid& bid : bids) {
    if (!tabu.contains({bid.job, bid.shard}) && claims.room.contains(bid.shard)) {
      open.push_back(bid);
    }
  }
  std::vector<strads::Proposal> proposals;
  for (const Bid& bid : open) proposals.push_back(proposal_of(bid, claims));
  strads::Ledger ledger(resources_of(open, claims));
  const auto verdicts = strads::commit(proposals, versions, ledger);
  std::vector<Bid> granted;
  for (const std::size_t i : strads::commit_order(proposals)) {
    if (verdicts[i] == strads::Verdict::committed) granted.push_back(open[i]);
  }
  return granted;
}

}  // namespace berth::coordinator
