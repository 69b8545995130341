// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/trade.hpp"

#include "give_back.hpp"
#include "post.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "berth/solver/dive.hpp"

namespace berth::coordinator {
namespace {

using model::JobPlacement;
using model::Placement;
using solver::Shard;

/// Shape and count of each task group.
using JobKind = std::vector<std::pair<ShapeId, std::int32_t>>;

void give(std::span<const Shard> mine, const Placement& spanning, std::span<const ShardId> piece_of,
          Post& post) {
  for (const Shard& shard : mine) {
    const solver::ShardContent content = shard.content();
    for (const JobPlacement& p : content.placed) post.add(piece_of[p.job.index()], Kind::placed, p);
    for (const JobId job : content.unplaced) post.add(piece_of[job.index()], job);
  }
  for (const JobPlacement& p : spanning) post.add(piece_of[p.job.index()], Kind::placed, p);
}

/// Kinds do not meet: one search serves all pieces of a rank.
Content all_of(std::map<ShardId, Content> pieces) {
  Content all;
  for (auto& [piece, content] : pieces) {
    std::ranges::move(content.placed, std::back_inserter(all.placed));
    std::ranges::move(content.waiting, std::back_inserter(all.waiting));
  }
  std::ranges::sort(all.placed, {}, &JobPlacement::job);
  std::ranges::sort(all.waiting);
  return all;
}

}  // namespace

std::vector<ShardId> deal_kinds(const model::Workload& workload, std::size_t pieces) {
  std::map<JobKind, std::vector<std::size_t>> kinds;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    JobKind kind;
    for (const model::TaskGroup& g : workload.groups_of(workload.jobs[j])) {
      kind.emplace_back(g.shape, g.count);
    }
    kinds[std::move(kind)].push_back(j);
  }
  std::vector<const std::vector<std::size_t>*> largest_first;
  for (const auto& [kind, jobs] : kinds) largest_first.push_back(&jobs);
  std::ranges::stable_sort(largest_first, std::greater<>{},
                           [](const auto* jobs) { return jobs->size(); });
  std::vector<std::size_t> load(pieces, 0);
  std::vector<ShardId> piece_of(workload.jobs.size());
  for (const auto* jobs : largest_first) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(load) - load.begin());
    load[least] += jobs->size();
    for (const std::size_t j : *jobs) piece_of[j] = ShardId(least);
  }
  return piece_of;
}

void trade(const comm::Communicator& comm, const model::Valuation& valuation,
           const Terrain& terrain, std::span<Shard> mine, Placement& spanning,
           const StopToken& stop, Sharing* sharing) {
  Post post(comm, terrain.owners, terrain.jobs);
  std::vector<ShardId> piece_of;
  if (comm.rank() == 0) {
    piece_of = deal_kinds(valuation.instance().workload, terrain.shards.size());
  }
  comm.broadcast_vector(piece_of);
  give(mine, comm.rank() == 0 ? spanning : Placement{}, piece_of, post);
  auto pieces = post.deliver();
  GiveBack back(comm, terrain, post);
  back.keep_only(pieces, spanning);
  Content here = all_of(std::move(pieces));
  comm.agreed([&] {
    const comm::Communicator::Span span(comm, "trade", comm.rank());
    solver::trade(valuation, terrain.pools, here.waiting, here.placed, stop,
                  sharing == nullptr ? nullptr : &sharing->limits());
    back.add(here.placed, here.waiting);
  });
  back.finish(mine, spanning);
  if (sharing == nullptr) return;
  sharing->span(spanning);
  sharing->hold(mine);
}

}  // namespace berth::coordinator
