// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/world_speeds.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string>

#include "berth/base/error.hpp"

namespace berth::sim {
namespace {

using policy::Demand;
using speed::MachineTasks;
using speed::ProfileKind;

/// Tasks on the first machines of a list, as many on each as its GPUs hold; empty: too few.
std::vector<model::TaskPlacement> packed(const model::Cluster& cluster, const Demand& demand,
                                         std::span<const MachineId> machines) {
  std::vector<model::TaskPlacement> tasks;
  std::size_t m = 0;
  std::int32_t used = 0;
  for (const policy::DemandGroup& group : demand.groups) {
    const std::int32_t gpus = group.shape.uses_gpu() ? std::max(group.shape.gpus, 1) : 0;
    for (std::int32_t t = 0; t < group.count; ++t) {
      while (m < machines.size() && used + gpus > cluster.class_of(machines[m]).gpus) {
        ++m;
        used = 0;
      }
      if (m == machines.size()) return {};
      const std::uint64_t ones = gpus == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << gpus) - 1;
      tasks.push_back({.machine = machines[m],
                       .group = group.group,
                       .devices = gpus == 0 ? 0 : ones << used,
                       .milli = gpus == 0 ? 0 : static_cast<std::int32_t>(model::kGpuMilli)});
      used += gpus;
    }
  }
  return tasks;
}

}  // namespace

WorldSpeeds::WorldSpeeds(const model::Instance& instance, speed::Profiles& profiles,
                         double interference)
    : instance_(&instance),
      profiles_(&profiles),
      unset_(without_reference(profiles)),
      model_(instance, profiles, interference) {
  const model::Cluster& cluster = instance.cluster;
  machines_of_type_.resize(cluster.gpu_types.size());
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const GpuTypeId type = cluster.class_of(MachineId(m)).gpu_type;
    if (type.valid()) machines_of_type_[type.index()].emplace_back(m);
  }
  for (auto& machines : machines_of_type_) {
    std::ranges::stable_sort(machines, std::greater<>{},
                             [&](MachineId m) { return cluster.class_of(m).gpus; });
  }
  set_references();
}

/// Sets them to 1 for now, as models take a reference of 0 for a job of another model.
std::vector<JobId> WorldSpeeds::without_reference(speed::Profiles& profiles) {
  std::vector<JobId> unset;
  for (std::size_t j = 0; j < profiles.jobs.size(); ++j) {
    if (!profiles.has(JobId(j)) || profiles.reference(JobId(j)) > 0.0) continue;
    profiles.reference(JobId(j)) = 1.0;
    unset.emplace_back(j);
  }
  return unset;
}

void WorldSpeeds::set_references() {
  for (const JobId job : unset_) {
    const Demand demand =
        with_speeds(job, policy::demand_of(*instance_, instance_->workload.job(job)), -1);
    if (demand.types.empty()) {
      throw InputError({.file = "", .line = 0, .field = "profile"},
                       "job " + std::string(instance_->workload.job_names[job.index()]) +
                           " has no speed on any GPU type that it may use",
                       "give its profile a reference, or one of these types");
    }
    profiles_->reference(job) = demand.speeds.front();
  }
}

std::vector<MachineTasks> WorldSpeeds::machines_of(
    JobId job, std::span<const model::TaskPlacement> tasks) const {
  speed::JobProfile profile;
  if (profiles_->has(job)) profile = profiles_->jobs[job.index()];
  std::vector<MachineTasks> machines;
  for (const model::TaskPlacement& task : tasks) {
    auto at = std::ranges::lower_bound(machines, task.machine, {}, &MachineTasks::machine);
    if (at == machines.end() || at->machine != task.machine)
      at = machines.insert(at, MachineTasks{.machine = task.machine});
    const std::int32_t gpus = std::popcount(task.devices);
    at->gpus += gpus;
    if (task.group == profile.servers) {
      ++at->servers;
    } else {
      at->workers += profile.kind == ProfileKind::ring ? gpus : 1;
    }
  }
  return machines;
}

double WorldSpeeds::alone(JobId job, const Demand& demand, GpuTypeId type,
                          std::int32_t configuration) const {
  const auto tasks = packed(instance_->cluster, demand, machines_of_type_[type.index()]);
  if (tasks.empty()) return 0.0;
  const auto machines = machines_of(job, tasks);
  const speed::RunningJob running{.job = job,
                                  .gpu_type = type,
                                  .machines = machines,
                                  .configuration = configuration,
                                  .batch = profiles_->jobs[job.index()].batch,
                                  .expected = true};
  speed::Rate rate;
  model_.rates({&running, 1}, {&rate, 1});
  return rate.per_second;
}

Demand WorldSpeeds::with_speeds(JobId job, Demand demand, std::int32_t configuration) const {
  if (!has_profile(job) || !demand.uses_gpus()) return demand;
  struct TypeSpeed {
    double speed;
    GpuTypeId type;
  };
  std::vector<TypeSpeed> speeds;
  for (const GpuTypeId type : demand.types) {
    const double speed = alone(job, demand, type, configuration);
    if (speed > 0.0) speeds.push_back({speed, type});
  }
  std::ranges::stable_sort(speeds, std::greater<>{}, &TypeSpeed::speed);
  demand.types.clear();
  demand.speeds.clear();
  for (const auto& [speed, type] : speeds) {
    demand.types.push_back(type);
    demand.speeds.push_back(speed);
  }
  return demand;
}

}  // namespace berth::sim
