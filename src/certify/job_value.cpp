// SPDX-License-Identifier: Apache-2.0
#include "job_value.hpp"

#include "exact.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace berth::certify {

using model::Cluster;
using model::Job;
using model::Level;

std::int64_t milli_of(const model::WorkloadView& workload, const Job& job) {
  std::int64_t total = 0;
  for (const model::TaskGroup& group : workload.groups_of(job)) {
    const model::Shape& shape = workload.tables().shapes[group.shape.index()];
    total += std::int64_t{group.count} * (std::int64_t{1000} * shape.gpus + shape.gpu_milli);
  }
  return total;
}

bool uses_gpu(const model::WorkloadView& workload, const Job& job) {
  return milli_of(workload, job) > 0;
}

bool is_countable(const model::WorkloadView& workload, const Job& job) {
  std::int64_t whole = 0;
  for (const model::TaskGroup& group : workload.groups_of(job)) {
    const model::Shape& shape = workload.tables().shapes[group.shape.index()];
    if (shape.gpu_milli > 0) return false;
    whole += std::int64_t{group.count} * shape.gpus;
  }
  return whole > 0;
}

namespace {

double base_of(model::Objective kind, const Job& job, double milli) {
  switch (kind) {
    case model::Objective::value:
      return std::isnan(job.value) ? job.weight * milli / 1000.0 : job.value;
    case model::Objective::allocate:
      return milli;
  }
  return 0.0;
}

}  // namespace

JobValue::JobValue(const model::InstanceView& instance, model::Objective kind, const Job& job,
                   std::int64_t milli)
    : workload_(instance.workload),
      job_(&job),
      base_(base_of(kind, job, static_cast<double>(milli)) *
            instance.workload.tables().weight_of(job.priority)),
      factors_(model::traits(kind).factors) {
  if (model::traits(kind).costs && !workload_.pinned(job)) running_ = workload_.running_of(job);
}

double JobValue::at(GpuTypeId type, Level width, Level distance) const {
  if (!factors_) return base_;
  double speed = 1.0;
  if (type.valid() && !workload_.tables().speeds.empty()) {
    speed = workload_.tables()
                .speeds[job_->speed * std::size_t{workload_.tables().speed_types} + type.index()];
  }
  return base_ * speed *
         workload_.tables().factors[job_->home_factor][static_cast<std::size_t>(distance)] *
         workload_.tables().factors[job_->width_factor][static_cast<std::size_t>(width)];
}

namespace {

Level away(const Cluster& cluster, const Job& job, RackId rack) {
  const PodId pod = cluster.racks[rack.index()].pod;
  if (job.home_rack.valid()) {
    if (rack == job.home_rack) return Level::rack;
    return pod == cluster.racks[job.home_rack.index()].pod ? Level::pod : Level::cluster;
  }
  if (job.home_pod.valid()) return pod == job.home_pod ? Level::pod : Level::cluster;
  return Level::machine;
}

}  // namespace

PlacementExtent extent_of(const model::InstanceView& instance, const model::JobPlacement& placed) {
  const Cluster& cluster = instance.cluster;
  const Job& job = instance.workload.job(placed.job);
  PlacementExtent found;
  for (const model::TaskPlacement& task : placed.tasks) {
    const MachineId first = placed.tasks.front().machine;
    const RackId rack = cluster.machine_rack[task.machine.index()];
    const RackId first_rack = cluster.machine_rack[first.index()];
    Level width = Level::machine;
    if (task.machine != first) width = Level::rack;
    if (rack != first_rack) width = Level::pod;
    if (cluster.racks[rack.index()].pod != cluster.racks[first_rack.index()].pod) {
      width = Level::cluster;
    }
    found.width = std::max(found.width, width);
    found.distance = std::max(found.distance, away(cluster, job, rack));
    if (task.devices != 0 && !found.type.valid()) {
      found.type = cluster.classes[cluster.machine_class[task.machine.index()].index()].gpu_type;
    }
  }
  return found;
}

std::optional<model::JobPlacement> present(const model::WorkloadView& workload, JobId id) {
  const Job& job = workload.job(id);
  const model::Running* running = workload.running_of(job);
  if (running == nullptr || running->pinned) return std::nullopt;
  const auto tasks = workload.tasks_of(*running);
  return model::JobPlacement{.job = id, .start = 0, .tasks = {tasks.begin(), tasks.end()}};
}

std::vector<MachineId> machines_of(std::span<const model::TaskPlacement> tasks) {
  std::vector<MachineId> machines;
  for (const model::TaskPlacement& task : tasks) machines.push_back(task.machine);
  std::ranges::sort(machines);
  machines.erase(std::unique(machines.begin(), machines.end()), machines.end());
  return machines;
}

bool may_stay(const model::Cluster& cluster, const model::JobPlacement& present) {
  return std::ranges::none_of(present.tasks, [&](const model::TaskPlacement& task) {
    return cluster.state_of(task.machine) != model::MachineState::up;
  });
}

bool stays(const model::WorkloadView& workload, const model::JobPlacement& placed) {
  auto now = present(workload, placed.job);
  if (!now || now->tasks.size() != placed.tasks.size()) return false;
  std::vector<model::TaskPlacement> tasks = placed.tasks;
  std::ranges::sort(tasks);
  std::ranges::sort(now->tasks);
  return tasks == now->tasks;
}

double stop_cost(const model::Running& running, model::Objective kind) {
  return running.pinned || !model::traits(kind).costs ? 0.0 : running.stop_cost;
}

Int128 stop_costs(const model::WorkloadView& workload, model::Objective kind, int scale_log2,
                  Int128 (*fixed)(double, int)) {
  Int128 total = 0;
  for (const model::Running& running : workload.tables().running) {
    total += fixed(stop_cost(running, kind), scale_log2);
  }
  return total;
}

}  // namespace berth::certify
