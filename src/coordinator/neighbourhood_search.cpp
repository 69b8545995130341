// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/neighbourhood_search.hpp"

#include "content_exchange.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/coordinator/coordinate.hpp"
#include "berth/coordinator/limit_allocation.hpp"
#include "berth/coordinator/regroup.hpp"

namespace berth::coordinator {
namespace {

using model::JobPlacement;
using model::Placement;
using solver::Shard;

constexpr std::uint64_t kStage = 0x4E53;  ///< key of these draws: "NS" in ASCII

class NeighbourhoodSearch {
 public:
  NeighbourhoodSearch(const comm::Communicator& comm, const Decomposition& decomposition,
                      JobRecords& records, const ShardSettings& settings,
                      const NeighbourhoodPass& pass)
      : comm_(comm),
        decomposition_(decomposition),
        records_(records),
        settings_(settings),
        pass_(pass),
        number_(static_cast<std::uint64_t>(pass.number)) {
    const model::Cluster& cluster = decomposition.valuation.instance().cluster;
    const auto groups = std::max<std::int64_t>(1, cluster.gpus() / pass.gpus);
    const std::uint64_t key = mix64(kStage ^ mix64(pass.seed));
    group_of_ = draw_groups(cluster, static_cast<std::size_t>(groups), pass.number, key);
    machines_.resize(static_cast<std::size_t>(groups));
    for (std::size_t m = 0; m < group_of_.size(); ++m) {
      machines_[group_of_[m].index()].emplace_back(m);
    }
    std::erase_if(machines_, [](const auto& machines) { return machines.empty(); });
    for (std::size_t g = 0; g < machines_.size(); ++g) {
      owners_.owner.push_back(static_cast<int>(g) % comm.size());
    }
  }

  std::int64_t run(Placement& here) {
    ContentExchange exchange(comm_, owners_, records_);
    Placement kept = send(here, exchange);
    auto contents = exchange.deliver();
    std::vector<JobId> jobs = jobs_of(contents);
    std::ranges::move(jobs_of(kept), std::back_inserter(jobs));
    records_.retain_only(jobs);
    std::vector<Shard> groups;
    comm_.agreed([&] {
      for (auto& [g, content] : contents) groups.push_back(make(g, content));
    });
    allow(groups, kept);
    std::int64_t improved = 0;
    comm_.agreed([&] {
      for (Shard& group : groups) improved += search(group) ? 1 : 0;
    });
    here = placements_at_home(comm_, groups, {}, records_);
    std::ranges::move(kept, std::back_inserter(here));
    std::ranges::sort(here, {}, &JobPlacement::job);
    records_.retain_only({});
    return comm_.sum(improved);
  }

 private:
  /// Sends the home jobs to groups. Returns those over several groups, which keep their places.
  Placement send(const Placement& here, ContentExchange& exchange) const {
    Placement kept;
    for (const JobPlacement& p : here) {
      const auto groups = pieces_of(p, group_of_);
      const ContentKind kind = groups.size() == 1 ? ContentKind::placed : ContentKind::pinned;
      for (const ShardId g : groups) exchange.add(g, kind, p);
      if (groups.size() > 1) kept.push_back(p);
    }
    for (const JobId job : records_.home_jobs()) {
      if (std::ranges::binary_search(here, job, {}, &JobPlacement::job)) continue;
      const auto id = static_cast<std::uint64_t>(job.value());
      exchange.add(ShardId(static_cast<std::size_t>(
                       random_below(machines_.size(), {kStage, pass_.seed, number_, 1, id}))),
                   job);
    }
    return kept;
  }

  [[nodiscard]] Shard make(ShardId g, PieceContent& content) const {
    Shard group(g, decomposition_.valuation, decomposition_.pools, machines_[g.index()],
                settings_.options, settings_.run);
    for (const JobPlacement& p : content.pinned) group.reserve(p);
    group.restore({.placed = std::move(content.placed), .unplaced = std::move(content.waiting)});
    return group;
  }

  /// Distributes what the plan leaves of the limits to the groups.
  void allow(std::vector<Shard>& groups, const Placement& kept) const {
    if (settings_.run.limits == nullptr) return;
    LimitAllocation allocation(comm_, decomposition_.valuation, *settings_.run.limits);
    allocation.set_spanning_parts(kept);
    allocation.distribute_slack(groups);
  }

  bool search(Shard& group) const {
    const comm::Communicator::TraceSpan span(comm_, "neighbourhood", group.id().value());
    if (settings_.run.stop.requested()) return false;
    solver::Neighbourhood neighbourhood = pass_.search;
    neighbourhood.key = mix64(pass_.seed ^ mix64(number_)) + group.id().index();
    return solver::replan(group, decomposition_.prices, neighbourhood) > 0.0;
  }

  const comm::Communicator& comm_;
  const Decomposition& decomposition_;
  JobRecords& records_;
  const ShardSettings& settings_;
  const NeighbourhoodPass& pass_;
  std::uint64_t number_;
  std::vector<ShardId> group_of_;                 ///< by MachineId
  std::vector<std::vector<MachineId>> machines_;  ///< by group, none empty
  partition::Ownership owners_;                   ///< of the groups
};

}  // namespace

std::int64_t search_neighbourhoods(const comm::Communicator& comm,
                                   const Decomposition& decomposition, JobRecords& records,
                                   const ShardSettings& settings, const NeighbourhoodPass& pass,
                                   model::Placement& here) {
  return NeighbourhoodSearch(comm, decomposition, records, settings, pass).run(here);
}

}  // namespace berth::coordinator
