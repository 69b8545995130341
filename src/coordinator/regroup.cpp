// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/regroup.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "berth/base/random.hpp"
#include "berth/coordinator/wire.hpp"

namespace berth::coordinator {
namespace {

using model::JobPlacement;
using model::Placement;
using solver::Shard;

constexpr std::uint64_t kStage = 0x5247;  ///< key of the draws

using Stream = std::vector<std::int64_t>;

/// What one piece of the cluster, shard or group, is given.
struct Content {
  Placement placed;
  Placement pinned;  ///< lies over its border
  std::vector<JobId> waiting;
};

enum class Kind : std::int64_t { placed, pinned, waiting };

/// Sends content to the owners of pieces: records {piece, kind, length, values}.
class Post {
 public:
  Post(const comm::Communicator& comm, const partition::Ownership& owners)
      : comm_(comm), owners_(owners), to_(static_cast<std::size_t>(comm.size())) {}

  void add(ShardId piece, Kind kind, std::span<const std::int64_t> values) {
    Stream& stream = to_[static_cast<std::size_t>(owners_.owner[piece.index()])];
    stream.insert(stream.end(), {piece.value(), static_cast<std::int64_t>(kind),
                                 static_cast<std::int64_t>(values.size())});
    stream.insert(stream.end(), values.begin(), values.end());
  }
  void add(ShardId piece, Kind kind, const JobPlacement& placed) {
    add(piece, kind, to_wire(Placement{placed}));
  }
  void add(ShardId piece, JobId waiting) {
    const std::int64_t job = waiting.value();
    add(piece, Kind::waiting, std::span(&job, 1));
  }

  /// Collective. By piece of this rank, jobs ascending.
  std::map<ShardId, Content> deliver() {
    Stream all;
    std::vector<std::size_t> counts;
    for (Stream& stream : to_) {
      all.insert(all.end(), stream.begin(), stream.end());
      counts.push_back(stream.size());
      stream.clear();
    }
    std::map<ShardId, Content> content;
    const Stream got = comm_.all_to_all_varying<std::int64_t>(all, counts).values;
    for (std::size_t at = 0; at < got.size();) {
      Content& to = content[ShardId(static_cast<std::int32_t>(got[at]))];
      const auto kind = static_cast<Kind>(got[at + 1]);
      const auto length = static_cast<std::size_t>(got[at + 2]);
      put(to, kind, std::span(got).subspan(at + 3, length));
      at += 3 + length;
    }
    for (auto& [piece, c] : content) {
      std::ranges::sort(c.placed, {}, &JobPlacement::job);
      std::ranges::sort(c.pinned, {}, &JobPlacement::job);
      std::ranges::sort(c.waiting);
    }
    return content;
  }

 private:
  static void put(Content& to, Kind kind, std::span<const std::int64_t> values) {
    if (kind == Kind::waiting) {
      to.waiting.emplace_back(static_cast<std::int32_t>(values.front()));
      return;
    }
    Placement one = from_wire(values);
    (kind == Kind::placed ? to.placed : to.pinned).push_back(std::move(one.front()));
  }

  const comm::Communicator& comm_;
  const partition::Ownership& owners_;
  std::vector<Stream> to_;  ///< by rank
};

/// The pieces a job lies in.
std::set<ShardId> pieces_of(const JobPlacement& p, std::span<const ShardId> of_machine) {
  std::set<ShardId> pieces;
  for (const model::TaskPlacement& t : p.tasks) pieces.insert(of_machine[t.machine.index()]);
  return pieces;
}

class Round {
 public:
  Round(const comm::Communicator& comm, const model::Valuation& valuation, const Terrain& terrain,
        int round, std::uint64_t seed)
      : comm_(comm),
        cluster_(valuation.instance().cluster),
        workload_(valuation.instance().workload),
        terrain_(terrain),
        round_(static_cast<std::uint64_t>(round)),
        seed_(seed),
        group_of_(deal(cluster_, terrain.shards.size(), round, seed)),
        machines_(terrain.shards.size()) {
    for (std::size_t m = 0; m < group_of_.size(); ++m) {
      machines_[group_of_[m].index()].emplace_back(m);
    }
    while (machines_.back().empty()) machines_.pop_back();  // fewer racks than groups
    for (std::size_t m = group_of_.size(); m-- > 0;) {
      group_of_rack_[cluster_.machine_rack[m]] = group_of_[m];
      group_of_pod_[cluster_.pod_of(MachineId(m))] = group_of_[m];
    }
  }

  Regrouped run(std::span<Shard> mine, Placement& spanning, int chains) {
    to_groups(mine, spanning);
    auto groups = post_.deliver();
    comm_.agreed([&] { search(mine, groups, chains); });
    return to_shards(mine, spanning);
  }

 private:
  void to_groups(std::span<const Shard> mine, const Placement& spanning) {
    for (const Shard& shard : mine) {
      const solver::ShardContent content = shard.content();
      for (const JobPlacement& p : content.placed) {
        if (send(p)) continue;
        held_.emplace_back(shard.id(), p);
      }
      for (const JobId job : content.unplaced) post_.add(group_for(job), job);
    }
    if (comm_.rank() != 0) return;
    for (const JobPlacement& p : spanning) {
      if (!send(p)) over_shards_.push_back(p);
    }
  }

  /// False: over two groups, which hear of it, and stays.
  bool send(const JobPlacement& p) {
    const auto groups = pieces_of(p, group_of_);
    const Kind kind = groups.size() == 1 ? Kind::placed : Kind::pinned;
    for (const ShardId g : groups) post_.add(g, kind, p);
    return kind == Kind::placed;
  }

  /// Where a waiting job is tried this time.
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

  void search(std::span<const Shard> mine, std::map<ShardId, Content>& groups, int chains) {
    for (auto& [g, content] : groups) {
      Shard group = mine.front().fresh(g, machines_[g.index()]);
      for (const JobPlacement& p : content.pinned) group.reserve(p);
      group.restore({.placed = std::move(content.placed), .unplaced = std::move(content.waiting)});
      if (group.search(terrain_.prices, chains) > 0.0) ++better_;
      const solver::ShardContent found = group.content();
      for (const JobPlacement& p : found.placed) {
        const auto shards = pieces_of(p, terrain_.shards.of_machine);
        if (shards.size() == 1) {
          post_.add(*shards.begin(), Kind::placed, p);
        } else {
          over_shards_.push_back(p);
        }
      }
      for (const JobId job : found.unplaced) post_.add(g, job);
    }
  }

  Regrouped to_shards(std::span<Shard> mine, Placement& spanning) {
    auto shards = post_.deliver();
    spanning = from_wire(comm_.all_gather_varying<std::int64_t>(to_wire(over_shards_)));
    std::ranges::sort(spanning, {}, &JobPlacement::job);
    for (const auto& [shard, p] : held_) shards[shard].placed.push_back(p);
    for (Shard& shard : mine) {
      Content& content = shards[shard.id()];
      shard = shard.fresh(shard.id(), terrain_.shards.machines[shard.id().index()]);
      for (const JobPlacement& p : spanning) shard.reserve(p);
      shard.restore({.placed = std::move(content.placed), .unplaced = std::move(content.waiting)});
    }
    return {.groups = std::ssize(machines_), .better = comm_.sum(better_)};
  }

  const comm::Communicator& comm_;
  const model::Cluster& cluster_;
  const model::Workload& workload_;
  const Terrain& terrain_;
  std::uint64_t round_, seed_;
  std::vector<ShardId> group_of_;                 ///< by MachineId
  std::vector<std::vector<MachineId>> machines_;  ///< by group, none empty
  std::map<RackId, ShardId> group_of_rack_;
  std::map<PodId, ShardId> group_of_pod_;
  Post post_{comm_, terrain_.owners};
  std::vector<std::pair<ShardId, JobPlacement>> held_;  ///< stay in this rank's shards
  Placement over_shards_;                               ///< from here to all ranks
  std::int64_t better_ = 0;
};

}  // namespace

std::vector<ShardId> deal(const model::Cluster& cluster, std::size_t groups, int round,
                          std::uint64_t seed) {
  const bool pods = cluster.pods.size() >= 2 * groups;
  std::vector<std::size_t> unit_of(cluster.machines());  // machines lie rack by rack, pod by pod
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

Regrouped regroup(const comm::Communicator& comm, const model::Valuation& valuation,
                  const Terrain& terrain, std::span<Shard> mine, Placement& spanning, int round,
                  std::uint64_t seed, int chains) {
  return Round(comm, valuation, terrain, round, seed).run(mine, spanning, chains);
}

}  // namespace berth::coordinator
