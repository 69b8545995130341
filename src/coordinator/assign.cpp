// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/assign.hpp"

#include "shard_preference.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "berth/base/infinity.hpp"
#include "berth/comm/messages.hpp"
#include "berth/model/free_machine.hpp"
#include "berth/solver/shard_bidding.hpp"
#include "berth/solver/shard_limits.hpp"
#include "berth/solver/shard_planning.hpp"

namespace berth::coordinator {
namespace {

/// Rank 0's part: assigns job by job and counts the GPUs claimed of each shard.
class Assigner {
 public:
  Assigner(const planner_model::Valuation& valuation, const partition::Shards& shards)
      : cluster_(valuation.instance().cluster),
        workload_(valuation.instance().workload),
        shards_(shards),
        room_(shards.size(), std::vector<double>(cluster_.gpu_types.size(), 0.0)),
        claimed_(room_),
        by_room_(cluster_.gpu_types.size()),
        ranking_(cluster_.gpu_types.size()) {
    for (std::size_t m = 0; m < cluster_.machines(); ++m) {
      const GpuTypeId type = cluster_.class_of(MachineId(m)).gpu_type;
      if (!type.valid()) continue;
      const auto milli = model::FreeMachine(cluster_, MachineId(m)).milli();
      room_[shards.of_machine[m].index()][type.index()] += static_cast<double>(milli) / 1000.0;
    }
    for (std::size_t s = 0; s < shards.size(); ++s) {
      for (std::size_t t = 0; t < by_room_.size(); ++t) {
        ShardsOfRoom& of_room =
            by_room_[t].try_emplace(room_[s][t], ShardsOfRoom{s, {}, {}}).first->second;
        of_room.by_claim[0.0].insert(s);
      }
    }
  }

  /// Keeps these running jobs at these places.
  void keep(const model::Placement& running, Assignment& result) {
    for (const model::JobPlacement& p : running) {
      const auto shard = [&](const model::TaskPlacement& t) {
        return shards_.of_machine[t.machine.index()];
      };
      const ShardId first = shard(p.tasks.front());
      const bool inside = std::ranges::all_of(
          p.tasks, [&](const model::TaskPlacement& t) { return shard(t) == first; });
      for (const model::TaskPlacement& t : p.tasks) {
        const GpuTypeId type = cluster_.class_of(t.machine).gpu_type;
        if (!type.valid()) continue;
        add_claim(shard(t).index(), type.index(), t.milli * std::popcount(t.devices) / 1000.0);
      }
      (inside ? result.kept : result.spanning).push_back(p);
    }
  }

  /// True when the gang is larger than half of the largest shard's room of its best type, or its
  /// rules need more domains than a shard has.
  [[nodiscard]] bool must_span(const ShardPreference& preference) const {
    if (preference.one_task || shards_.size() == 1 || !preference.type.valid()) return false;
    if (preference.exceeds_shards) return true;
    const double largest = by_room_[preference.type.index()].rbegin()->first;
    return preference.gpus > largest / 2;
  }

  ShardId claim(const ShardPreference& preference) {
    const ShardId shard =
        preference.home.valid() ? preference.home : least_claimed_shard(preference);
    if (preference.type.valid()) {
      add_claim(shard.index(), preference.type.index(), preference.gpus);
    }
    return shard;
  }

 private:
  using LoadOfShard = std::pair<double, std::size_t>;  ///< share of the room claimed, shard

  /// Shards with equal room of a type.
  struct ShardsOfRoom {
    std::size_t first;                                 ///< lowest shard
    std::map<double, std::set<std::size_t>> by_claim;  ///< by GPUs claimed
    LoadOfShard ranked{};                              ///< entry of the type's ranking

    void move(std::size_t shard, double from, double to) {
      const auto before = by_claim.find(from);
      before->second.erase(shard);
      if (before->second.empty()) by_claim.erase(before);
      by_claim[to].insert(shard);
    }
  };

  /// The least loaded shard of each room, for jobs of one size. Jobs come by size, so it is built
  /// once for each of them and follows the claims in between.
  struct Ranking {
    double gpus = -1.0;  ///< of a job; -1: not built
    std::set<LoadOfShard> least;
  };

  /// O(log shards)
  void add_claim(std::size_t shard, std::size_t type, double gpus) {
    const double room = room_[shard][type];
    ShardsOfRoom& shards = by_room_[type].at(room);
    const double before = claimed_[shard][type];
    claimed_[shard][type] += gpus;
    shards.move(shard, before, claimed_[shard][type]);
    Ranking& ranking = ranking_[type];
    if (ranking.gpus < 0.0) return;
    ranking.least.erase(shards.ranked);
    shards.ranked = least_load(room, shards, ranking.gpus);
    ranking.least.insert(shards.ranked);
  }

  /// The least loaded of these shards after a claim of so many GPUs.
  [[nodiscard]] static LoadOfShard least_load(double room, const ShardsOfRoom& shards,
                                              double gpus) {
    if (room < gpus) return {1e9 - room, shards.first};
    LoadOfShard best{kInfinity, 0};
    // Claims that differ by rounding may be equal shares; the lowest shard is taken then.
    for (const auto& [claimed, alike] : shards.by_claim) {
      const LoadOfShard here{(claimed + gpus) / room, *alike.begin()};
      if (here.first > best.first) break;
      best = std::min(best, here);
    }
    return best;
  }

  /// The shard of which the smallest share of the room of the job's type is claimed. CPU-only jobs
  /// and jobs that no machine holds are assigned to the shards in turn.
  [[nodiscard]] ShardId least_claimed_shard(const ShardPreference& preference) {
    if (!preference.type.valid()) return ShardId(next_++ % shards_.size());
    auto& by_room = by_room_[preference.type.index()];
    Ranking& ranking = ranking_[preference.type.index()];
    if (ranking.gpus != preference.gpus) {
      ranking = {preference.gpus, {}};
      for (auto& [room, shards] : by_room) {
        shards.ranked = least_load(room, shards, preference.gpus);
        ranking.least.insert(shards.ranked);
      }
    }
    return ShardId(ranking.least.begin()->second);
  }

  const model::Cluster& cluster_;
  model::WorkloadView workload_;
  const partition::Shards& shards_;
  std::vector<std::vector<double>> room_, claimed_;      ///< GPUs by shard and type
  std::vector<std::map<double, ShardsOfRoom>> by_room_;  ///< by type; key: GPUs
  std::vector<Ranking> ranking_;                         ///< by type
  std::size_t next_ = 0;
};

/// A shard of all machines, within the limits of the cluster.
solver::Shard whole_cluster(const Decomposition& decomposition, const solver::RunContext& run) {
  const planner_model::Valuation& valuation = decomposition.valuation;
  std::vector<MachineId> all;
  for (std::size_t m = 0; m < valuation.instance().cluster.machines(); ++m) all.emplace_back(m);
  solver::Shard whole(ShardId{}, valuation, decomposition.pools, std::move(all), {}, run);
  for (std::size_t l = 0; run.limits != nullptr && l < run.limits->size(); ++l) {
    solver::allow(whole, l, run.limits->capacity(l));
  }
  return whole;
}

/// Places these gangs over the whole cluster, in this order.
model::Placement place_spanning(const Decomposition& decomposition,
                                std::span<const ShardPreference> large,
                                const solver::RunContext& run) {
  solver::Shard whole = whole_cluster(decomposition, run);
  for (const ShardPreference& preference : large) {
    if (preference.profit > 0.0) solver::realise(whole, preference.job, 0.0);
  }
  return whole.placement();  // a later gang may have evicted one
}

/// Places these gangs and the running jobs over the whole cluster; running jobs may move or stop.
model::Placement place_spanning_beside(const model::Placement& running,
                                       const Decomposition& decomposition,
                                       std::span<const ShardPreference> large,
                                       const solver::RunContext& run) {
  solver::Shard whole = whole_cluster(decomposition, run);
  for (const model::JobPlacement& p : running) solver::add_running(whole, p);
  std::vector<JobId> gangs;
  for (const ShardPreference& preference : large) {
    if (preference.profit > 0.0) gangs.push_back(preference.job);
  }
  solver::plan(whole, gangs, decomposition.prices, run.stop);
  return whole.placement();
}

/// Jobs whose records are needed to place these gangs.
std::vector<JobId> jobs_for(std::span<const ShardPreference> large,
                            const model::Placement& running) {
  std::vector<JobId> jobs;
  for (const ShardPreference& preference : large) jobs.push_back(preference.job);
  std::ranges::move(jobs_of(running), std::back_inserter(jobs));
  return jobs;
}

/// Present placements of the running jobs that keep their places, ascending.
model::Placement kept_places(const model::WorkloadView& workload,
                             std::span<const ShardPreference> preferences) {
  model::Placement kept;
  for (const ShardPreference& preference : preferences) {
    if (!preference.keeps_place) continue;
    const auto running = std::ranges::lower_bound(workload.tables().running, preference.job, {},
                                                  &model::Running::job);
    kept.push_back(planner_model::current_placement(workload, *running));
  }
  return kept;
}

/// Sorts preferences in the order of assignment: gangs over several shards by profit per GPU, then
/// jobs with a profit, large ones first; ties by precedence; last, jobs that keep their places.
/// Returns the number of gangs over several shards.
std::size_t sort_by_claim_order(std::vector<ShardPreference>& preferences,
                                const Assigner& assigner) {
  const auto kept = std::stable_partition(preferences.begin(), preferences.end(),
                                          [](const ShardPreference& w) { return !w.keeps_place; });
  const auto rest = std::stable_partition(
      preferences.begin(), kept, [&](const ShardPreference& w) { return assigner.must_span(w); });
  std::sort(preferences.begin(), rest, [](const ShardPreference& a, const ShardPreference& b) {
    return std::tuple(-a.profit / a.gpus, a.precedence) <
           std::tuple(-b.profit / b.gpus, b.precedence);
  });
  std::sort(rest, kept, [](const ShardPreference& a, const ShardPreference& b) {
    const auto key = [](const ShardPreference& w) {
      return std::tuple(w.profit > 0.0 ? 0 : 1, -w.gpus, w.precedence);
    };
    return key(a) < key(b);
  });
  return static_cast<std::size_t>(rest - preferences.begin());
}

/// Takes these gangs out of a placement.
model::Placement take_gangs(model::Placement& placement, std::span<const ShardPreference> gangs) {
  const auto rest =
      std::stable_partition(placement.begin(), placement.end(), [&](const model::JobPlacement& p) {
        return std::ranges::find(gangs, p.job, &ShardPreference::job) == gangs.end();
      });
  model::Placement taken(std::make_move_iterator(rest), std::make_move_iterator(placement.end()));
  placement.erase(rest, placement.end());
  return taken;
}

}  // namespace

std::vector<std::vector<JobId>> Assignment::jobs_by_shard(std::size_t shards) const {
  std::vector<std::vector<JobId>> jobs(shards);
  for (std::size_t j = 0; j < shard_of.size(); ++j) {
    if (shard_of[j].valid()) jobs[shard_of[j].index()].emplace_back(j);
  }
  return jobs;
}

std::vector<JobId> Assignment::open_jobs() const {
  std::vector<JobId> jobs;
  for (std::size_t j = 0; j < shard_of.size(); ++j) {
    if (shard_of[j].valid()) jobs.emplace_back(j);
  }
  return jobs;
}

Assignment assign(const comm::Communicator& comm, const Decomposition& decomposition,
                  JobRecords& records, const solver::RunContext& run) {
  const planner_model::Valuation& valuation = decomposition.valuation;
  std::vector<ShardPreference> all = comm.gather_varying<ShardPreference>(
      comm.agreed([&] { return shard_preferences(decomposition, records.home_jobs()); }));
  std::ranges::sort(all, {}, &ShardPreference::job);
  Assignment result;
  Assigner assigner(valuation, decomposition.shards);
  model::Placement kept;  // running jobs
  std::size_t large = 0;
  std::vector<JobId> needed;  // records that rank 0 needs to place the large gangs
  if (comm.rank() == 0) {
    result.shard_of.resize(valuation.instance().workload.size());
    kept = kept_places(valuation.instance().workload, all);
    large = sort_by_claim_order(all, assigner);
    if (large > 0) needed = jobs_for(std::span(all).first(large), kept);
  }
  comm.broadcast_vector(needed);
  records.scatter([&] { return records.only_home({needed}); });
  comm.agreed_on_root([&] {
    const auto gangs = std::span(all).first(large);
    if (large > 0 && kept.empty()) {
      result.spanning = place_spanning(decomposition, gangs, run);
    } else if (large > 0) {
      kept = place_spanning_beside(kept, decomposition, gangs, run);
      result.spanning = take_gangs(kept, gangs);
    }
    model::Placement placed = result.spanning;
    std::ranges::copy(kept, std::back_inserter(placed));
    std::ranges::sort(placed, {}, &model::JobPlacement::job);
    assigner.keep(kept, result);
    for (const ShardPreference& preference : all) {
      if (std::ranges::binary_search(placed, preference.job, {}, &model::JobPlacement::job))
        continue;
      result.shard_of[preference.job.index()] = assigner.claim(preference);
    }
  });
  comm.broadcast_vector(result.shard_of, 0);
  comm::broadcast(comm, result.spanning);
  comm::broadcast(comm, result.kept);
  return result;
}

}  // namespace berth::coordinator
