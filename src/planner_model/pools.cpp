// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/pools.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "berth/planner_model/value.hpp"

namespace berth::planner_model {
namespace {

/// True when some rack can hold more ring ends than its uplink carries.
bool rings_fill_racks(const model::InstanceView& instance) {
  const model::Cluster& cluster = instance.cluster;
  std::int64_t mbps = 0;
  for (const model::Job& job : instance.workload.records().jobs) {
    if (job.communication.pattern != model::CommunicationPattern::ring ||
        instance.workload.pinned(job))
      continue;
    if (instance.workload.tasks(job) > 1) mbps = std::max(mbps, job.communication.mbps);
  }
  std::vector<std::int64_t> gpus(cluster.racks.size(), 0);
  for (std::size_t m = 0; m < cluster.machines() && mbps > 0; ++m) {
    gpus[cluster.machine_rack[m].index()] += cluster.class_of(MachineId(m)).gpus;
  }
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    const double most = static_cast<double>(mbps) * static_cast<double>(gpus[r]) / 1000.0;
    if (most > cluster.racks[r].uplink_gbps) return true;
  }
  return false;
}

}  // namespace

model::Level pool_level(const model::InstanceView& instance, model::Objective objective) {
  if (rings_fill_racks(instance)) return model::Level::rack;
  const Valuation valuation(instance, objective);
  const model::WorkloadView& workload = instance.workload;
  for (const JobId id : planned_jobs(workload)) {
    const model::Job& job = workload.job(id);
    if (valuation.place_independent(id)) continue;
    const model::Factors& spread = workload.tables().factors[job.width_factor];
    const bool over_racks =
        model::narrowest_width(workload.rules_of(job), workload.tasks(job)) > model::Level::rack;
    const bool racks_differ = over_racks || job.home_rack.valid() ||
                              job.domain == model::Level::rack ||
                              spread[static_cast<std::size_t>(model::Level::rack)] !=
                                  spread[static_cast<std::size_t>(model::Level::pod)];
    if (racks_differ) return model::Level::rack;
  }
  return model::Level::pod;
}

Pools make_pools(const model::Cluster& cluster, model::Level level) {
  Pools result{.level = level, .pools = {}, .of_machine = {}};
  std::map<std::pair<std::int32_t, ClassId>, PoolId> known;
  result.of_machine.reserve(cluster.machines());
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const RackId rack = cluster.machine_rack[m];
    const PodId pod = cluster.racks[rack.index()].pod;
    const ClassId c = cluster.machine_class[m];
    const std::int32_t domain = level == model::Level::rack ? rack.value() : pod.value();
    const auto [entry, fresh] = known.try_emplace({domain, c}, PoolId(result.pools.size()));
    if (fresh) {
      result.pools.push_back({.pod = pod,
                              .rack = level == model::Level::rack ? rack : RackId{},
                              .machine_class = c,
                              .gpu_type = cluster.classes[c.index()].gpu_type});
    }
    Pool& pool = result.pools[entry->second.index()];
    ++pool.machines;
    pool.gpu_milli += model::kGpuMilli * cluster.classes[c.index()].gpus;
    result.of_machine.push_back(entry->second);
  }
  return result;
}

PoolSubset pool_subset(const model::Cluster& cluster, const Pools& all,
                       std::span<const MachineId> machines) {
  PoolSubset part{.pools = {.level = all.level, .pools = {}, .of_machine = {}}, .in_all = {}};
  std::vector<PoolId> position(all.size());  // in the subset
  for (const MachineId m : machines) position[all.pool_of(m).index()] = PoolId(0);
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (!position[p].valid()) continue;
    position[p] = PoolId(part.in_all.size());
    part.in_all.emplace_back(p);
    part.pools.pools.push_back(all.pools[p]);
    part.pools.pools.back().machines = 0;
    part.pools.pools.back().gpu_milli = 0;
  }
  if (machines.empty()) return part;
  const auto [lowest, highest] = std::ranges::minmax(machines);
  part.pools.first_machine = lowest;
  part.pools.of_machine.resize(highest.index() + 1 - lowest.index());
  for (const MachineId m : machines) {
    const PoolId pool = position[all.pool_of(m).index()];
    part.pools.of_machine[m.index() - lowest.index()] = pool;
    ++part.pools.pools[pool.index()].machines;
    part.pools.pools[pool.index()].gpu_milli += model::kGpuMilli * cluster.class_of(m).gpus;
  }
  return part;
}

}  // namespace berth::planner_model
