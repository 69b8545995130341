// SPDX-License-Identifier: Apache-2.0
#include "free_room.hpp"

#include <algorithm>
#include <bit>

#include "berth/model/free_machine.hpp"

namespace berth::pipeline {
namespace {

/// kJobs: number of exclusive jobs there, as a negative number.
constexpr std::size_t kWhole = 0, kMilli = 1, kJobs = 2, kFirstResource = 3;
constexpr std::size_t kAmounts = kFirstResource + model::kResources;

}  // namespace

FreeRoom::FreeRoom(const comm::Communicator& comm, const model::InstanceView& instance,
                   const model::Placement& placement)
    : instance_(instance),
      free_(instance.cluster.machines() * kAmounts, 0),
      milli_(instance.cluster.gpu_types.size(), 0) {
  for (const model::JobPlacement& placed : placement) {
    const model::Job& job = instance.workload.job(placed.job);
    const auto groups = instance.workload.groups_of(job);
    const bool exclusive = instance.workload.rules_of(job).exclusive;
    for (const model::TaskPlacement& t : placed.tasks) {
      std::int64_t* const used = &free_[t.machine.index() * kAmounts];
      const model::Shape& shape = instance.workload.shape(groups[t.group].shape);
      used[kWhole] -= shape.gpus;
      used[kJobs] -= exclusive ? 1 : 0;
      used[kMilli] -= std::int64_t{t.milli} * std::popcount(t.devices);
      for (std::size_t r = 0; r < model::kResources; ++r) {
        used[kFirstResource + r] -= shape.needs[r];
      }
    }
  }
  comm.sum(free_);
  const model::WorkloadTables& tables = instance.workload.tables();
  for (const model::Running& running : tables.running) {
    if (!running.pinned || !tables.rules[running.rules].exclusive) continue;
    for (const model::TaskPlacement& t : tables.tasks_of(running)) {
      --free_[t.machine.index() * kAmounts + kJobs];
    }
  }
  for (std::size_t m = 0; m < instance.cluster.machines(); ++m) {
    const model::FreeMachine machine(instance.cluster, MachineId(m));
    std::int64_t* const free = &free_[m * kAmounts];
    free[kMilli] += machine.milli();
    free[kWhole] = std::min(free[kWhole] + machine.whole_count(), free[kMilli] / model::kGpuMilli);
    for (std::size_t r = 0; r < model::kResources; ++r) {
      const std::int64_t all = machine.resources()[r];
      std::int64_t& rest = free[kFirstResource + r];
      rest = all == model::kNoLimit ? model::kNoLimit : rest + all;
    }
    const GpuTypeId type = instance.cluster.class_of(MachineId(m)).gpu_type;
    if (type.valid() && free[kJobs] == 0) milli_[type.index()] += free[kMilli];
  }
}

std::int64_t FreeRoom::tasks_on(MachineId machine, const model::Shape& shape) const {
  const std::int64_t* const free = &free_[machine.index() * kAmounts];
  if (instance_.cluster.state_of(machine) != model::MachineState::up || free[kJobs] < 0) return 0;
  std::int64_t tasks = std::int64_t{1} << 31;  // more than any job has
  if (shape.gpus > 0) tasks = free[kWhole] / shape.gpus;
  if (shape.gpu_milli > 0) {
    const std::int32_t slices = instance_.cluster.class_of(machine).gpu_slices;
    tasks = free[kMilli] / model::share_taken(shape.gpu_milli, slices);
  }
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (shape.needs[r] > 0) tasks = std::min(tasks, free[kFirstResource + r] / shape.needs[r]);
  }
  return std::max<std::int64_t>(0, tasks);
}

const FreeRoom::Best& FreeRoom::best(ShapeId shape, GpuTypeId type, model::Level level) {
  const auto [entry, fresh] = known_.try_emplace({shape, type, level});
  if (fresh) entry->second = count(instance_.workload.shape(shape), type, level);
  return entry->second;
}

FreeRoom::Best FreeRoom::count(const model::Shape& shape, GpuTypeId type,
                               model::Level level) const {
  const model::Cluster& cluster = instance_.cluster;
  Best best;
  MachineId where;
  std::int64_t here = 0;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {  // a domain is a range of machines
    const MachineId machine(m);
    const bool first =
        m == 0 || level == model::Level::machine ||
        (level == model::Level::rack && cluster.machine_rack[m] != cluster.machine_rack[m - 1]) ||
        (level == model::Level::pod && cluster.pod_of(machine) != cluster.pod_of(MachineId(m - 1)));
    if (first) here = 0;
    if (!type.valid() || cluster.class_of(machine).gpu_type == type) {
      here += tasks_on(machine, shape);
    }
    if (here > best.tasks) best.tasks = here, where = machine;
  }
  if (best.tasks == 0) return best;
  if (level == model::Level::rack) {
    best.domain = "rack " + cluster.racks[cluster.machine_rack[where.index()].index()].name;
  }
  if (level == model::Level::pod) {
    best.domain = "pod " + cluster.pods[cluster.pod_of(where).index()].name;
  }
  return best;
}

}  // namespace berth::pipeline
