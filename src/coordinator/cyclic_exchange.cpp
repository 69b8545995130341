// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/cyclic_exchange.hpp"

#include "content_exchange.hpp"
#include "return_to_shards.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "berth/comm/messages.hpp"
#include "berth/coordinator/limit_allocation.hpp"
#include "berth/solver/dive.hpp"

namespace berth::coordinator {
namespace {

using model::JobPlacement;
using model::Placement;
using planner_model::TaskProfile;
using solver::Shard;

using ProfileCounts = std::map<TaskProfile, std::int64_t>;

/// Counts of the jobs of all ranks. Rank 0 adds them, so that each rank receives a profile once.
ProfileCounts count_profiles(const comm::Communicator& comm, const model::WorkloadView& workload,
                             std::span<const JobId> jobs) {
  ProfileCounts own;
  for (const JobId job : jobs) ++own[TaskProfile(workload, workload.job(job))];
  ProfileCounts all;
  for (const ProfileCounts& counts : comm::gather<ProfileCounts>(comm, std::span(&own, 1))) {
    for (const auto& [profile, count] : counts) all[profile] += count;
  }
  comm::broadcast(comm, all);
  return all;
}

/// Leaves the shards without machines, to save memory.
template <class PieceOf>
void send_content(std::span<Shard> mine, const Placement& spanning, const PieceOf& piece_of,
                  ContentExchange& exchange) {
  for (Shard& shard : mine) {
    const solver::ShardContent content = shard.content();
    shard = shard.empty_copy(shard.id(), {});
    for (const JobPlacement& p : content.placed)
      exchange.add(piece_of(p.job), ContentKind::placed, p);
    for (const JobId job : content.unplaced) exchange.add(piece_of(job), job);
  }
  for (const JobPlacement& p : spanning) exchange.add(piece_of(p.job), ContentKind::placed, p);
}

}  // namespace

ProfilePartition::ProfilePartition(const comm::Communicator& comm,
                                   const model::WorkloadView& workload, std::span<const JobId> jobs,
                                   std::size_t pieces) {
  const ProfileCounts counts = count_profiles(comm, workload, jobs);
  std::vector<std::pair<const TaskProfile*, std::int64_t>> largest_first;
  for (const auto& [profile, count] : counts) largest_first.emplace_back(&profile, count);
  std::ranges::stable_sort(largest_first, std::greater<>{}, [](const auto& k) { return k.second; });
  std::vector<std::int64_t> load(pieces, 0);
  for (const auto& [profile, count] : largest_first) {
    const auto least = std::ranges::min_element(load);
    *least += count;
    piece_of_.emplace(*profile, ShardId(static_cast<std::size_t>(least - load.begin())));
  }
}

ShardId ProfilePartition::piece_of(const model::WorkloadView& workload, JobId job) const {
  return piece_of_.at(TaskProfile(workload, workload.job(job)));
}

void exchange_cyclically(const comm::Communicator& comm, const Decomposition& decomposition,
                         const DistributedPlacement& placement, const StopToken& stop) {
  const std::span<Shard> mine = placement.mine;
  Placement& spanning = placement.spanning;
  LimitAllocation* const allocation = placement.allocation;
  ContentExchange exchange(comm, decomposition.owners, placement.records);
  const planner_model::Valuation& valuation = decomposition.valuation;
  const model::WorkloadView& workload = valuation.instance().workload;
  const ProfilePartition partition(comm, workload, placement.records.home_jobs(),
                                   decomposition.shards.size());
  send_content(
      mine, comm.rank() == 0 ? spanning : Placement{},
      [&](JobId job) { return partition.piece_of(workload, job); }, exchange);
  auto pieces = exchange.deliver();
  ReturnToShards returned(comm, decomposition, placement.records, exchange);
  returned.retain_records(pieces, spanning);
  comm.agreed([&] {
    for (auto& [piece, part] : pieces) {  // jobs of different profiles never exchange places
      const comm::Communicator::TraceSpan span(comm, "trade", piece.value());
      PieceContent here = std::move(part);
      solver::cyclic_exchange(valuation, decomposition.pools, here.waiting, here.placed, stop,
                              allocation == nullptr ? nullptr : &allocation->limits());
      returned.add(here.placed, here.waiting);
    }
  });
  returned.finish(mine, spanning);
  if (allocation == nullptr) return;
  allocation->set_spanning(spanning);
  allocation->freeze(mine);
}

}  // namespace berth::coordinator
