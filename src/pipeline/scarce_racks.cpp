// SPDX-License-Identifier: Apache-2.0
#include "scarce_racks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "berth/planner_model/option_enumerator.hpp"
#include "berth/planner_model/room.hpp"

namespace berth::pipeline {
namespace {

using model::Level;

/// Sets of racks whose prices are searched. Chosen, not tuned.
constexpr std::size_t kMostSets = 8;

/// Gangs that ask for the same tasks on a GPU type within one domain of the level.
struct GangKind {
  GpuTypeId type;
  Level level;
  std::vector<std::pair<ShapeId, std::int32_t>> tasks;  ///< shape and count by group

  auto operator<=>(const GangKind&) const = default;
};

struct Demand {
  std::int64_t gangs = 0;
  std::int64_t milli = 0;  ///< GPU thousandths of them all
};

/// What the domains of a kind's level hold of it.
struct Supply {
  std::vector<RackId> racks;  ///< of the domains that hold a gang
  std::int64_t gangs = 0;
};

/// Calls visit(type, level) where a domain of the level is worth more than any wider one.
template <class Visit>
void for_each_preference(const planner_model::Valuation& valuation, JobId id, Visit visit) {
  const model::Job& job = valuation.instance().workload.job(id);
  const planner_model::OptionEnumerator options(valuation, id);
  for (const GpuTypeId type : options.types()) {
    for (const Level level : {Level::rack, Level::pod}) {
      const auto wider = static_cast<Level>(static_cast<int>(level) + 1);
      if (job.domain < level) break;
      const double within = options.value_at(type, level, Level::machine);
      const bool may_spread = job.domain >= wider;
      if (may_spread && options.value_at(type, wider, Level::machine) >= within) continue;
      visit(type, level);
    }
  }
}

std::map<GangKind, Demand> kinds_of_gangs(const planner_model::Valuation& valuation) {
  const model::WorkloadView& workload = valuation.instance().workload;
  std::map<GangKind, Demand> kinds;
  for (const JobId id : model::planned_jobs(workload)) {
    const model::Job& job = workload.job(id);
    if (workload.tasks(job) < 2 || workload.gpu_milli(job) == 0) continue;
    std::vector<std::pair<ShapeId, std::int32_t>> tasks;
    for (const model::TaskGroup& g : workload.groups_of(job)) {
      tasks.emplace_back(g.shape, static_cast<std::int32_t>(g.count));
    }
    for_each_preference(valuation, id, [&](GpuTypeId type, Level level) {
      Demand& demand = kinds[{type, level, tasks}];
      ++demand.gangs;
      demand.milli += workload.gpu_milli(job);
    });
  }
  return kinds;
}

/// Counts by domain, each group of tasks as if it were alone.
class RackRoom {
 public:
  explicit RackRoom(const model::InstanceView& instance)
      : instance_(instance), room_(instance.cluster) {
    const std::size_t types = instance.cluster.gpu_types.size();
    const std::size_t racks = instance.cluster.racks.size();
    machines_.assign(types, std::vector<std::int64_t>(racks, 0));
    for (std::size_t m = 0; m < instance.cluster.machines(); ++m) {
      const GpuTypeId type = instance.cluster.class_of(MachineId(m)).gpu_type;
      if (!type.valid() || room_.free_milli(MachineId(m)) == 0) continue;
      ++machines_[type.index()][instance.cluster.machine_rack[m].index()];
    }
  }

  /// Machines of the type with free GPUs in these racks.
  [[nodiscard]] std::int64_t machines(GpuTypeId type, std::span<const RackId> racks) const {
    std::int64_t sum = 0;
    for (const RackId r : racks) sum += machines_[type.index()][r.index()];
    return sum;
  }
  [[nodiscard]] std::int64_t machines(GpuTypeId type) const {
    std::int64_t sum = 0;
    for (const std::int64_t of_rack : machines_[type.index()]) sum += of_rack;
    return sum;
  }

  [[nodiscard]] Supply supply(const GangKind& kind) const {
    const model::Cluster& cluster = instance_.cluster;
    std::vector<std::int64_t> gangs(domains(kind.level), std::numeric_limits<std::int64_t>::max());
    for (const auto& [shape, count] : kind.tasks) {
      const std::vector<std::int64_t> tasks = tasks_by_domain(kind, shape);
      for (std::size_t d = 0; d < gangs.size(); ++d) {
        gangs[d] = std::min(gangs[d], tasks[d] / count);
      }
    }
    Supply supply;
    for (const std::int64_t of_domain : gangs) supply.gangs += of_domain;
    for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
      const bool has = machines_[kind.type.index()][r] > 0;
      if (has && gangs[domain_of(kind.level, RackId(r))] > 0) supply.racks.emplace_back(r);
    }
    return supply;
  }

 private:
  [[nodiscard]] std::size_t domains(Level level) const {
    const model::Cluster& cluster = instance_.cluster;
    return level == Level::rack ? cluster.racks.size() : cluster.pods.size();
  }
  [[nodiscard]] std::size_t domain_of(Level level, RackId rack) const {
    return level == Level::rack ? rack.index() : instance_.cluster.racks[rack.index()].pod.index();
  }
  [[nodiscard]] std::vector<std::int64_t> tasks_by_domain(const GangKind& kind, ShapeId id) const {
    const model::Cluster& cluster = instance_.cluster;
    const model::Shape& shape = instance_.workload.shape(id);
    std::vector<std::int64_t> tasks(domains(kind.level), 0);
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      const MachineId machine(m);
      if (shape.uses_gpu() && cluster.class_of(machine).gpu_type != kind.type) continue;
      constexpr std::int64_t kMany = 1 << 20;
      tasks[domain_of(kind.level, cluster.machine_rack[m])] += room_.count(machine, shape, kMany);
    }
    return tasks;
  }

  model::InstanceView instance_;
  planner_model::Room room_;
  std::vector<std::vector<std::int64_t>> machines_;  ///< by GPU type and rack
};

}  // namespace

bool racks_differ(const model::Cluster& cluster) {
  const planner_model::Room room(cluster);
  std::map<GpuTypeId, std::map<RackId, std::int64_t>> free;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const GpuTypeId type = cluster.class_of(MachineId(m)).gpu_type;
    if (type.valid()) free[type][cluster.machine_rack[m]] += room.free_milli(MachineId(m));
  }
  return std::ranges::any_of(free, [](const auto& of_type) {
    return std::ranges::any_of(of_type.second, [&](const auto& rack) {
      return rack.second != of_type.second.begin()->second;
    });
  });
}

std::vector<RackSet> scarce_racks(const planner_model::Valuation& valuation) {
  const RackRoom room(valuation.instance());
  std::map<std::pair<GpuTypeId, std::vector<RackId>>, std::int64_t> asked;  // thousandths
  for (const auto& [kind, demand] : kinds_of_gangs(valuation)) {
    const Supply supply = room.supply(kind);
    if (supply.racks.empty() || demand.gangs <= supply.gangs) continue;
    if (2 * room.machines(kind.type, supply.racks) > room.machines(kind.type)) continue;
    asked[{kind.type, supply.racks}] += demand.milli;
  }
  std::vector<std::pair<std::int64_t, RackSet>> sets;
  for (const auto& [set, milli] : asked) sets.push_back({milli, {set.first, set.second}});
  std::ranges::stable_sort(sets, std::greater<>{}, [](const auto& s) { return s.first; });
  if (sets.size() > kMostSets) sets.resize(kMostSets);
  std::vector<RackSet> found;
  for (auto& [milli, set] : sets) found.push_back(std::move(set));
  return found;
}

}  // namespace berth::pipeline
