// SPDX-License-Identifier: Apache-2.0
#include "give_back.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "berth/coordinator/packed_placement.hpp"

namespace berth::coordinator {

using model::JobPlacement;
using solver::Shard;

void GiveBack::add(const model::Placement& placed, std::span<const JobId> waiting) {
  for (const JobPlacement& p : placed) {
    const auto shards = pieces_of(p, terrain_.shards.of_machine);
    if (shards.size() == 1) {
      post_.add(*shards.begin(), Kind::placed, p);
    } else {
      over_shards_.push_back(p);
    }
  }
  for (const JobId job : waiting) post_.add(ShardId(job.index() % terrain_.shards.size()), job);
}

void GiveBack::keep_only(const std::map<ShardId, Content>& pieces,
                         const model::Placement& spanning) const {
  std::vector<JobId> jobs = jobs_of(pieces);
  std::ranges::move(jobs_of(spanning), std::back_inserter(jobs));
  for (const auto& [shard, p] : held_) jobs.push_back(p.job);
  terrain_.jobs.retain_only(jobs);
}

model::Placement GiveBack::staying() const {
  model::Placement all = over_shards_;
  for (const auto& [shard, p] : held_) all.push_back(p);
  return all;
}

void GiveBack::finish(std::span<Shard> mine, model::Placement& spanning) {
  auto contents = post_.deliver();
  spanning = unpack_placement(comm_.all_gather_varying<std::int64_t>(pack_placement(over_shards_)));
  std::ranges::sort(spanning, {}, &JobPlacement::job);
  terrain_.jobs.broadcast(jobs_of(over_shards_));
  for (const auto& [shard, p] : held_) contents[shard].placed.push_back(p);
  for (Shard& shard : mine) {
    Content& content = contents[shard.id()];
    shard = shard.empty_copy(shard.id(), terrain_.shards.machines[shard.id().index()]);
    for (const JobPlacement& p : spanning) shard.reserve(p);
    shard.restore({.placed = std::move(content.placed), .unplaced = std::move(content.waiting)});
  }
  terrain_.jobs.retain_only(mine, spanning);
}

}  // namespace berth::coordinator
