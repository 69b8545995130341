// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::model {

std::int64_t Cluster::gpus() const {
  std::int64_t total = 0;
  for (const ClassId c : machine_class) total += classes[c.index()].gpus;
  return total;
}

const Spare* Cluster::spare_of(PodId pod, GpuTypeId type) const {
  const auto at = std::ranges::lower_bound(spare, std::pair(pod, type), {}, Spare::key);
  return at != spare.end() && Spare::key(*at) == std::pair(pod, type) ? &*at : nullptr;
}

std::span<const Immovable> Cluster::immovable_on(MachineId machine) const {
  return {std::ranges::lower_bound(immovable, machine, {}, &Immovable::machine),
          std::ranges::upper_bound(immovable, machine, {}, &Immovable::machine)};
}

std::int64_t WorkloadView::gpu_milli(const Job& job) const {
  std::int64_t total = 0;
  for (const TaskGroup& g : groups_of(job)) total += g.count * shape(g.shape).total_milli();
  return total;
}

bool WorkloadView::allows(const Job& job, const Shape& shape, GpuTypeId type) const {
  if (shape.uses_gpu() || lists(job, type)) return lists(job, type);
  return job.gpu_types == ~std::uint64_t{0} || gpu_milli(job) > 0;
}

std::int64_t Workload::gpu_milli(const Job& job) const {
  return WorkloadView(*this).gpu_milli(job);
}

std::vector<JobId> planned_jobs(const WorkloadView& workload) {
  std::vector<JobId> jobs = local_jobs(workload.records());
  std::erase_if(jobs, [&](JobId id) { return workload.pinned(workload.job(id)); });
  return jobs;
}

void set_weights(const WorkloadTables& original, std::vector<PriorityWeight> weights,
                 WorkloadTables& copy) {
  copy.weights = std::move(weights);
  for (std::size_t i = 0; i < original.running.size(); ++i) {
    const Running& running = original.running[i];
    const double weight = copy.weight_of(running.priority);
    copy.running[i].stop_cost = weight * running.stop_cost;
    copy.running[i].move_cost = weight * running.move_cost;
  }
}

std::vector<JobId> pinned_jobs(const WorkloadTables& tables) {
  std::vector<JobId> jobs;
  for (const Running& r : tables.running) {
    if (r.pinned) jobs.push_back(r.job);
  }
  return jobs;
}

namespace {

/// The narrowest domain that holds both machines.
Level join(const Cluster& cluster, MachineId a, MachineId b) {
  if (a == b) return Level::machine;
  if (cluster.machine_rack[a.index()] == cluster.machine_rack[b.index()]) return Level::rack;
  return cluster.pod_of(a) == cluster.pod_of(b) ? Level::pod : Level::cluster;
}

}  // namespace

Level width(const Cluster& cluster, std::span<const TaskPlacement> tasks) {
  Level widest = Level::machine;
  for (const TaskPlacement& t : tasks) {
    widest = std::max(widest, join(cluster, tasks.front().machine, t.machine));
  }
  return widest;
}

}  // namespace berth::model
