// SPDX-License-Identifier: Apache-2.0
#include "return_to_shards.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/comm/messages.hpp"

namespace berth::coordinator {

using model::JobPlacement;
using solver::Shard;

namespace {

/// By shard: those of the placements that use machines of it, in their order.
std::vector<std::vector<const JobPlacement*>> by_shard(const model::Placement& placement,
                                                       const partition::Shards& shards) {
  std::vector<std::vector<const JobPlacement*>> lists(shards.size());
  for (const JobPlacement& p : placement) {
    for (const ShardId shard : pieces_of(p, shards.of_machine)) lists[shard.index()].push_back(&p);
  }
  return lists;
}

}  // namespace

void ReturnToShards::add(const model::Placement& placed, std::span<const JobId> waiting) {
  for (const JobPlacement& p : placed) {
    const auto shards = pieces_of(p, decomposition_.shards.of_machine);
    if (shards.size() == 1) {
      exchange_.add(*shards.begin(), ContentKind::placed, p);
    } else {
      spanning_.push_back(p);
    }
  }
  for (const JobId job : waiting)
    exchange_.add(ShardId(job.index() % decomposition_.shards.size()), job);
}

void ReturnToShards::retain_records(const std::map<ShardId, PieceContent>& pieces,
                                    const model::Placement& spanning) {
  std::vector<JobId> jobs = jobs_of(pieces);
  std::ranges::move(jobs_of(spanning), std::back_inserter(jobs));
  for (const auto& [shard, p] : inside_) jobs.push_back(p.job);
  records_.retain_only(jobs);
}

model::Placement ReturnToShards::kept_in_place() const {
  model::Placement all = spanning_;
  for (const auto& [shard, p] : inside_) all.push_back(p);
  return all;
}

void ReturnToShards::finish(std::span<Shard> mine, model::Placement& spanning) {
  auto contents = exchange_.deliver();
  spanning = comm::all_gather<JobPlacement>(comm_, spanning_);
  std::ranges::sort(spanning, {}, &JobPlacement::job);
  records_.broadcast(jobs_of(spanning_));
  for (const auto& [shard, p] : inside_) contents[shard].placed.push_back(p);
  const auto reserved = by_shard(spanning, decomposition_.shards);
  for (Shard& shard : mine) {
    PieceContent& content = contents[shard.id()];
    shard = shard.empty_copy(shard.id(), decomposition_.shards.machines[shard.id().index()]);
    for (const JobPlacement* p : reserved[shard.id().index()]) shard.reserve(*p);
    shard.restore({.placed = std::move(content.placed), .unplaced = std::move(content.waiting)});
  }
  records_.retain_only(mine, spanning);
}

}  // namespace berth::coordinator
