// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/regroup.hpp"

#include "content_exchange.hpp"
#include "return_to_shards.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "berth/base/random.hpp"
#include "berth/coordinator/limit_allocation.hpp"
#include "berth/solver/shard_planning.hpp"

namespace berth::coordinator {
namespace {

using model::JobPlacement;
using model::Placement;
using solver::Shard;

constexpr std::uint64_t kStage = 0x5247;  ///< key of these draws: "RG" in ASCII
constexpr std::int64_t kGroup = 16384;    ///< GPUs of a group: decision 13
/// GPUs: clusters of more than kManyGpus have groups of kGroupOfMany. Decision 18.
constexpr std::int64_t kManyGpus = 32768, kGroupOfMany = 8192;

class RegroupRound {
 public:
  RegroupRound(const comm::Communicator& comm, const Decomposition& decomposition,
               JobRecords& records, std::size_t groups, const GroupDraw& draw)
      : comm_(comm),
        cluster_(decomposition.valuation.instance().cluster),
        workload_(decomposition.valuation.instance().workload),
        decomposition_(decomposition),
        round_(static_cast<std::uint64_t>(draw.round)),
        seed_(draw.seed),
        group_of_(draw_groups(cluster_, groups, draw.round, draw.seed)),
        machines_(groups),
        exchange_(comm, decomposition.owners, records),
        returned_(comm, decomposition, records, exchange_) {
    for (std::size_t m = 0; m < group_of_.size(); ++m) {
      machines_[group_of_[m].index()].emplace_back(m);
    }
    while (machines_.back().empty()) machines_.pop_back();  // fewer racks than groups
    for (std::size_t m = group_of_.size(); m-- > 0;) {
      group_of_rack_[cluster_.machine_rack[m]] = group_of_[m];
      group_of_pod_[cluster_.pod_of(MachineId(m))] = group_of_[m];
    }
  }

  RegroupResult run(const DistributedPlacement& placement, const solver::SearchEffort& effort) {
    const std::span<Shard> mine = placement.mine;
    Placement& spanning = placement.spanning;
    LimitAllocation* const allocation = placement.allocation;
    to_groups(mine, spanning);
    auto contents = exchange_.deliver();
    returned_.retain_records(contents, spanning);
    if (allocation == nullptr) {
      comm_.agreed([&] {
        for (auto& [g, content] : contents) {
          Shard group = make(mine, g, content);
          search(group, effort);
        }
      });
    } else {
      search_within(allocation->limits(), mine, contents, effort);
    }
    returned_.finish(mine, spanning);
    if (allocation != nullptr) {
      allocation->set_spanning(spanning);
      allocation->freeze(mine);
    }
    return {.groups = std::ssize(machines_), .improved = comm_.sum(improved_)};
  }

 private:
  /// Sends the content of this rank's shards to the groups; leaves the shards without machines
  /// until the end of the round, to save memory.
  void to_groups(std::span<Shard> mine, const Placement& spanning) {
    for (Shard& shard : mine) {
      const solver::ShardContent content = shard.content();
      shard = shard.empty_copy(shard.id(), {});
      for (const JobPlacement& p : content.placed) {
        if (send(p)) continue;
        returned_.keep_in_place(shard.id(), p);
      }
      for (const JobId job : content.unplaced) exchange_.add(group_for(job), job);
    }
    if (comm_.rank() != 0) return;
    for (const JobPlacement& p : spanning) {
      if (!send(p)) returned_.keep_in_place(p);
    }
  }

  /// Sends a placement to the groups of its machines. False: it spans groups and keeps its place.
  bool send(const JobPlacement& p) {
    const auto groups = pieces_of(p, group_of_);
    const ContentKind kind = groups.size() == 1 ? ContentKind::placed : ContentKind::pinned;
    for (const ShardId g : groups) exchange_.add(g, kind, p);
    return kind == ContentKind::placed;
  }

  /// The group that tries an unplaced job in this round.
  [[nodiscard]] ShardId group_for(JobId id) const {
    const model::Job& job = workload_.job(id);
    if (round_ % 2 == 1) {
      if (const auto at = group_of_rack_.find(job.home_rack); at != group_of_rack_.end())
        return at->second;
      if (const auto at = group_of_pod_.find(job.home_pod); at != group_of_pod_.end())
        return at->second;
    }
    return ShardId(static_cast<std::size_t>(random_below(
        machines_.size(), {kStage, seed_, round_, 1, static_cast<std::uint64_t>(id.value())})));
  }

  [[nodiscard]] Shard make(std::span<const Shard> mine, ShardId g, PieceContent& content) const {
    Shard group = mine.front().empty_copy(g, machines_[g.index()]);
    for (const JobPlacement& p : content.pinned) group.reserve(p);
    group.restore({.placed = std::move(content.placed), .unplaced = std::move(content.waiting)});
    return group;
  }

  /// True when repacking can find something new: a single group would repeat its first round.
  [[nodiscard]] bool repacks() const {
    return machines_.size() > 1 || (round_ == 1 && decomposition_.shards.size() > 1);
  }

  void search(Shard& group, const solver::SearchEffort& effort) {
    const comm::Communicator::TraceSpan span(comm_, "group", group.id().value());
    const double repacked = repacks() ? solver::repack(group) : 0.0;
    if (repacked + solver::search(group, decomposition_.prices, effort) > 0.0) ++improved_;
    const solver::ShardContent found = group.content();
    returned_.add(found.placed, found.unplaced);
  }

  /// Searches all groups within limits. All groups are built before the first search, because the
  /// slack is distributed to all.
  void search_within(const planner_model::CouplingLimits& limits, std::span<const Shard> mine,
                     std::map<ShardId, PieceContent>& contents,
                     const solver::SearchEffort& effort) {
    std::vector<Shard> groups;
    comm_.agreed([&] {
      for (auto& [g, content] : contents) groups.push_back(make(mine, g, content));
    });
    LimitAllocation allocation(comm_, decomposition_.valuation, limits);
    allocation.set_spanning_parts(returned_.kept_in_place());
    allocation.distribute_slack(groups);
    comm_.agreed([&] {
      for (Shard& group : groups) search(group, effort);
    });
  }

  const comm::Communicator& comm_;
  const model::Cluster& cluster_;
  model::WorkloadView workload_;
  const Decomposition& decomposition_;
  std::uint64_t round_, seed_;
  std::vector<ShardId> group_of_;                 ///< by MachineId
  std::vector<std::vector<MachineId>> machines_;  ///< by group, none empty
  std::map<RackId, ShardId> group_of_rack_;
  std::map<PodId, ShardId> group_of_pod_;
  ContentExchange exchange_;
  ReturnToShards returned_;
  std::int64_t improved_ = 0;
};

}  // namespace

std::vector<ShardId> draw_groups(const model::Cluster& cluster, std::size_t groups, int round,
                                 std::uint64_t seed) {
  const bool pods = cluster.pods.size() >= 2 * groups;
  std::vector<std::size_t> unit_of(
      cluster.machines());  // machines are numbered rack by rack, pod by pod
  for (std::size_t m = 0; m < unit_of.size(); ++m) {
    unit_of[m] = pods ? cluster.pod_of(MachineId(m)).index() : cluster.machine_rack[m].index();
  }
  std::vector<std::size_t> units = unit_of;
  units.erase(std::unique(units.begin(), units.end()), units.end());
  std::ranges::sort(units, {}, [&](std::size_t u) {
    return std::pair(random_bits({kStage, seed, static_cast<std::uint64_t>(round), 0, u}), u);
  });
  const std::size_t used = std::min(groups, units.size());
  std::map<std::size_t, ShardId> group;
  for (std::size_t i = 0; i < units.size(); ++i) group[units[i]] = ShardId(i * used / units.size());
  std::vector<ShardId> of_machine;
  for (const std::size_t unit : unit_of) of_machine.push_back(group.at(unit));
  return of_machine;
}

std::size_t group_count(const model::Cluster& cluster, std::size_t shards, std::int64_t gpus) {
  if (gpus == 0) gpus = cluster.gpus() > kManyGpus ? kGroupOfMany : kGroup;
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(1, cluster.gpus() / gpus));
  return std::min(shards, wanted);
}

RegroupResult regroup(const comm::Communicator& comm, const Decomposition& decomposition,
                      const DistributedPlacement& placement, const GroupDraw& draw,
                      const GroupOptions& search) {
  const std::size_t groups = group_count(decomposition.valuation.instance().cluster,
                                         decomposition.shards.size(), search.gpus);
  return RegroupRound(comm, decomposition, placement.records, groups, draw)
      .run(placement, search.effort);
}

}  // namespace berth::coordinator
