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

/// Most shards whose jobs exchange places: with more, cycles and the time for each grow with the
/// jobs. Decision 91.
constexpr std::size_t kShardsOfBlock = 256;

/// Blocks of shards of about equal numbers.
class Blocks {
 public:
  explicit Blocks(std::size_t shards)
      : shards_(shards), count_((shards + kShardsOfBlock - 1) / kShardsOfBlock) {}
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t of(ShardId shard) const { return shard.index() * count_ / shards_; }

 private:
  std::size_t shards_, count_;
};

/// Counts by profile and block.
using ProfileCounts = std::map<std::pair<TaskProfile, std::size_t>, std::int64_t>;

/// Counts of the jobs of all ranks. Rank 0 adds them, so that each rank receives a profile once.
ProfileCounts count_profiles(const comm::Communicator& comm, const model::WorkloadView& workload,
                             std::span<const std::vector<JobId>> jobs) {
  ProfileCounts own;
  for (std::size_t block = 0; block < jobs.size(); ++block) {
    for (const JobId job : jobs[block]) {
      ++own[{TaskProfile(workload, workload.job(job)), block}];
    }
  }
  ProfileCounts all;
  for (const ProfileCounts& counts : comm::gather<ProfileCounts>(comm, std::span(&own, 1))) {
    for (const auto& [profile, count] : counts) all[profile] += count;
  }
  comm::broadcast(comm, all);
  return all;
}

/// The block of the first machine of a job over several shards.
std::size_t block_of(const Blocks& blocks, const partition::Shards& shards, const JobPlacement& p) {
  return blocks.of(shards.of_machine[p.tasks.front().machine.index()]);
}

/// Leaves the shards without machines, to save memory. @param piece_of  of a job in a block
template <class PieceOf>
void send_content(std::span<Shard> mine, const Blocks& blocks, const PieceOf& piece_of,
                  ContentExchange& exchange) {
  for (Shard& shard : mine) {
    const solver::ShardContent content = shard.content();
    const std::size_t block = blocks.of(shard.id());
    shard = shard.empty_copy(shard.id(), {});
    for (const JobPlacement& p : content.placed) {
      exchange.add(piece_of(p.job, block), ContentKind::placed, p);
    }
    for (const JobId job : content.unplaced) exchange.add(piece_of(job, block), job);
  }
}

}  // namespace

ProfilePartition::ProfilePartition(const comm::Communicator& comm,
                                   const model::WorkloadView& workload,
                                   std::span<const std::vector<JobId>> jobs, std::size_t pieces) {
  const ProfileCounts counts = count_profiles(comm, workload, jobs);
  std::vector<std::pair<const ProfileCounts::key_type*, std::int64_t>> largest_first;
  for (const auto& [profile, count] : counts) largest_first.emplace_back(&profile, count);
  std::ranges::stable_sort(largest_first, std::greater<>{}, [](const auto& k) { return k.second; });
  std::vector<std::int64_t> load(pieces, 0);
  for (const auto& [profile, count] : largest_first) {
    const auto least = std::ranges::min_element(load);
    *least += count;
    piece_of_.emplace(*profile, ShardId(static_cast<std::size_t>(least - load.begin())));
  }
}

ShardId ProfilePartition::piece_of(const model::WorkloadView& workload, JobId job,
                                   std::size_t block) const {
  return piece_of_.at({TaskProfile(workload, workload.job(job)), block});
}

void exchange_cyclically(const comm::Communicator& comm, const Decomposition& decomposition,
                         const DistributedPlacement& placement, const StopToken& stop) {
  const std::span<Shard> mine = placement.mine;
  Placement& spanning = placement.spanning;
  LimitAllocation* const allocation = placement.allocation;
  ContentExchange exchange(comm, decomposition.owners, placement.records);
  const planner_model::Valuation& valuation = decomposition.valuation;
  const model::WorkloadView& workload = valuation.instance().workload;
  const Blocks blocks(decomposition.shards.size());
  std::vector<std::vector<JobId>> jobs(blocks.count());
  for (const Shard& shard : mine) {
    std::ranges::move(shard.jobs(), std::back_inserter(jobs[blocks.of(shard.id())]));
  }
  const Placement of_root = comm.rank() == 0 ? spanning : Placement{};
  for (const JobPlacement& p : of_root) {
    jobs[block_of(blocks, decomposition.shards, p)].push_back(p.job);
  }
  const ProfilePartition partition(comm, workload, std::exchange(jobs, {}),
                                   decomposition.shards.size());
  const auto piece_of = [&](JobId job, std::size_t block) {
    return partition.piece_of(workload, job, block);
  };
  send_content(mine, blocks, piece_of, exchange);
  for (const JobPlacement& p : of_root) {
    exchange.add(piece_of(p.job, block_of(blocks, decomposition.shards, p)), ContentKind::placed,
                 p);
  }
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
