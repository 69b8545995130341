// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/cyclic_exchange.hpp"

#include "content_exchange.hpp"
#include "return_to_shards.hpp"

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

TaskComposition composition_of(const model::Workload& workload, JobId job) {
  TaskComposition kind;
  for (const model::TaskGroup& g : workload.groups_of(workload.job(job))) {
    kind.emplace_back(g.shape, g.count);
  }
  return kind;
}

using CompositionCounts = std::map<TaskComposition, std::int64_t>;

/// A kind travels as its length, its groups, and how many jobs it has.
std::vector<std::int64_t> to_stream(const CompositionCounts& kinds) {
  std::vector<std::int64_t> stream;
  for (const auto& [kind, count] : kinds) {
    stream.push_back(std::ssize(kind));
    for (const auto& [shape, tasks] : kind) stream.insert(stream.end(), {shape.value(), tasks});
    stream.push_back(count);
  }
  return stream;
}

/// Kinds that are there more than once are added up.
CompositionCounts from_stream(std::span<const std::int64_t> stream) {
  CompositionCounts all;
  for (auto at = stream.begin(); at != stream.end();) {
    TaskComposition kind;
    for (std::int64_t groups = *at++; groups > 0; --groups, at += 2) {
      kind.emplace_back(static_cast<std::int32_t>(at[0]), static_cast<std::int32_t>(at[1]));
    }
    all[std::move(kind)] += *at++;
  }
  return all;
}

/// Of all ranks' jobs. Rank 0 adds up, so that nobody hears of a kind more than once.
CompositionCounts count_compositions(const comm::Communicator& comm,
                                     const model::Workload& workload, std::span<const JobId> jobs) {
  CompositionCounts own;
  for (const JobId job : jobs) ++own[composition_of(workload, job)];
  const auto all = from_stream(comm.gather_varying<std::int64_t>(to_stream(own)));
  auto stream = to_stream(all);
  comm.broadcast_vector(stream);
  return from_stream(stream);
}

template <class PieceOf>
void send_content(std::span<const Shard> mine, const Placement& spanning, const PieceOf& piece_of,
                  ContentExchange& exchange) {
  for (const Shard& shard : mine) {
    const solver::ShardContent content = shard.content();
    for (const JobPlacement& p : content.placed)
      exchange.add(piece_of(p.job), ContentKind::placed, p);
    for (const JobId job : content.unplaced) exchange.add(piece_of(job), job);
  }
  for (const JobPlacement& p : spanning) exchange.add(piece_of(p.job), ContentKind::placed, p);
}

/// Kinds do not meet: one search serves all pieces of a rank.
PieceContent all_of(std::map<ShardId, PieceContent> pieces) {
  PieceContent all;
  for (auto& [piece, content] : pieces) {
    std::ranges::move(content.placed, std::back_inserter(all.placed));
    std::ranges::move(content.waiting, std::back_inserter(all.waiting));
  }
  std::ranges::sort(all.placed, {}, &JobPlacement::job);
  std::ranges::sort(all.waiting);
  return all;
}

}  // namespace

CompositionPartition::CompositionPartition(const comm::Communicator& comm,
                                           const model::Workload& workload,
                                           std::span<const JobId> jobs, std::size_t pieces) {
  const CompositionCounts kinds = count_compositions(comm, workload, jobs);
  std::vector<std::pair<const TaskComposition*, std::int64_t>> largest_first;
  for (const auto& [kind, count] : kinds) largest_first.emplace_back(&kind, count);
  std::ranges::stable_sort(largest_first, std::greater<>{}, [](const auto& k) { return k.second; });
  std::vector<std::int64_t> load(pieces, 0);
  for (const auto& [kind, count] : largest_first) {
    const auto least = std::ranges::min_element(load);
    *least += count;
    piece_of_.emplace(*kind, ShardId(static_cast<std::size_t>(least - load.begin())));
  }
}

ShardId CompositionPartition::piece_of(const model::Workload& workload, JobId job) const {
  return piece_of_.at(composition_of(workload, job));
}

void exchange_cyclically(const comm::Communicator& comm, const model::Valuation& valuation,
                         const Decomposition& decomposition, std::span<Shard> mine,
                         Placement& spanning, const StopToken& stop, LimitAllocation* allocation) {
  ContentExchange exchange(comm, decomposition.owners, decomposition.records);
  const model::Workload& workload = valuation.instance().workload;
  const CompositionPartition partition(comm, workload, decomposition.records.home_jobs(),
                                       decomposition.shards.size());
  send_content(
      mine, comm.rank() == 0 ? spanning : Placement{},
      [&](JobId job) { return partition.piece_of(workload, job); }, exchange);
  auto pieces = exchange.deliver();
  ReturnToShards returned(comm, decomposition, exchange);
  returned.retain_records(pieces, spanning);
  PieceContent here = all_of(std::move(pieces));
  comm.agreed([&] {
    const comm::Communicator::TraceSpan span(comm, "trade", comm.rank());
    solver::cyclic_exchange(valuation, decomposition.pools, here.waiting, here.placed, stop,
                            allocation == nullptr ? nullptr : &allocation->limits());
    returned.add(here.placed, here.waiting);
  });
  returned.finish(mine, spanning);
  if (allocation == nullptr) return;
  allocation->set_spanning(spanning);
  allocation->freeze(mine);
}

}  // namespace berth::coordinator
