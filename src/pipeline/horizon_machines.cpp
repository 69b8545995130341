// SPDX-License-Identifier: Apache-2.0
#include "horizon_machines.hpp"

#include "horizon_costs.hpp"
#include "horizon_moves.hpp"

#include <algorithm>

namespace berth::pipeline {

using horizon::Seconds;

void HorizonMachines::add() {
  add_pools();
  for (const std::vector<const model::Window*>& group : reservations()) add_reserved(group);
  close_machines();
}

void HorizonMachines::add_pools() {
  const model::Cluster& cluster = instance_.cluster;
  std::map<GpuTypeId, std::vector<MachineId>> by_type;
  std::vector<MachineId> without;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const model::MachineClass& of = cluster.class_of(MachineId(m));
    (of.gpus > 0 ? by_type[of.gpu_type] : without).push_back(MachineId(m));
  }
  position_.assign(cluster.machines(), {});
  for (const auto& [type, machines] : by_type) {
    add_pool(horizon::CurveId(result_.types.size()), type, machines);
    result_.types.push_back(type);
  }
  if (!without.empty()) add_pool(horizon::CurveId(0), {}, without);
}

void HorizonMachines::add_pool(horizon::CurveId curve, GpuTypeId type,
                               std::span<const MachineId> machines) {
  pools_.push_back({builder_.add_pool(curve, 0, 0), type});
  for (const MachineId m : machines) position_[m.index()] = add_machine(m);
}

MachineId HorizonMachines::add_machine(MachineId m) {
  const model::MachineClass& of = instance_.cluster.class_of(m);
  result_.machines.push_back(m);
  return builder_.add_machine({.pool = {},
                               .gpus = of.gpus,
                               .capacity = of.capacity,
                               .rack = instance_.cluster.machine_rack[m.index()],
                               .pod = instance_.cluster.pod_of(m),
                               .gpu_slices = of.gpu_slices,
                               .limits = limits_.of(m)});
}

/// Reservations that some waiting job may use, those for the same jobs and queues together.
std::vector<std::vector<const model::Window*>> HorizonMachines::reservations() const {
  std::map<std::pair<std::vector<QueueId>, std::vector<JobId>>, std::vector<const model::Window*>>
      groups;
  for (const model::Window& window : instance_.cluster.windows) {
    if (window.kind != model::WindowKind::reservation || window.to <= horizon_.now) continue;
    groups[{window.queues, window.job_ids}].push_back(&window);
  }
  std::vector<std::vector<const model::Window*>> used;
  const std::vector<JobId> jobs = model::planned_jobs(instance_.workload);
  for (auto& [whom, windows] : groups) {
    const bool some = std::ranges::any_of(jobs, [&](JobId job) {
      return is_planned(instance_, horizon_, job) && may_use(instance_, job, *windows.front());
    });
    if (some) used.push_back(std::move(windows));
  }
  return used;
}

/// The reserved machines once more, as pools of their own: open only while they are reserved,
/// when the machines of the other pools are closed. A job runs in a reservation or outside it.
void HorizonMachines::add_reserved(const std::vector<const model::Window*>& windows) {
  std::map<GpuTypeId, std::map<MachineId, std::vector<const model::Window*>>> by_type;
  for (const model::Window* window : windows) {
    for (const model::MachineRange& range : window->machines) {
      for (auto m = range.first; m < range.end; ++m) {
        const model::MachineClass& of = instance_.cluster.class_of(MachineId(m));
        by_type[of.gpus > 0 ? of.gpu_type : GpuTypeId{}][MachineId(m)].push_back(window);
      }
    }
  }
  for (const auto& [type, machines] : by_type) {
    const auto curve = std::ranges::find(result_.types, type) - result_.types.begin();
    const horizon::CurveId of_type(type.valid() ? static_cast<std::size_t>(curve) : 0);
    pools_.push_back({builder_.add_pool(of_type, 0, 0), type, windows.front()});
    for (const auto& [machine, open] : machines) add_reserved_machine(machine, open);
  }
}

void HorizonMachines::add_reserved_machine(MachineId machine,
                                           const std::vector<const model::Window*>& open) {
  const MachineId twin = add_machine(machine);
  twins_[machine].push_back({twin, open});
  std::vector<std::pair<Seconds, Seconds>> spans;
  for (const model::Window* window : open) spans.emplace_back(window->from, window->to);
  std::ranges::sort(spans);
  Seconds closed_from = horizon_.now;
  for (const auto& [from, to] : spans) {
    close_one(twin, machine, closed_from, from);
    closed_from = std::max(closed_from, to);
  }
  close_one(twin, machine, closed_from, horizon::kNever);
}

void HorizonMachines::close_one(MachineId position, MachineId machine, Seconds from, Seconds to) {
  from = std::max(from, horizon_.now);
  if (from >= to) return;
  model::Resources all = instance_.cluster.class_of(machine).capacity;
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (all[r] == model::kNoLimit) all[r] = 0;
  }
  builder_.add_outage(position, from, to, ~0ULL, all);
}

/// @param window  that closes the machine, or null; its own reserved machines stay open
void HorizonMachines::close(MachineId machine, Seconds from, Seconds to,
                            const model::Window* window) {
  close_one(position_[machine.index()], machine, from, to);
  const auto twins = twins_.find(machine);
  if (twins == twins_.end()) return;
  for (const Twin& twin : twins->second) {
    if (std::ranges::find(twin.open, window) == twin.open.end()) {
      close_one(twin.position, machine, from, to);
    }
  }
}

/// What is on the machine from now until the end of the outage, there and in reservations.
void HorizonMachines::occupy(horizon::Outage outage) {
  const MachineId machine = outage.machine;
  outage.from = horizon_.now;
  outage.milli =
      outage.devices == 0
          ? 1000
          : model::share_taken(outage.milli, instance_.cluster.class_of(machine).gpu_slices);
  outage.machine = position_[machine.index()];
  builder_.add_outage(outage);
  const auto twins = twins_.find(machine);
  if (twins == twins_.end()) return;
  for (const Twin& twin : twins->second) {
    outage.machine = twin.position;
    builder_.add_outage(outage);
  }
}

void HorizonMachines::close_machines() {
  const model::Cluster& cluster = instance_.cluster;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const bool up = cluster.state_of(MachineId(m)) == model::MachineState::up;
    if (!up) close(MachineId(m), horizon_.now, horizon::kNever, nullptr);
  }
  for (const model::Immovable& content : cluster.immovable) {
    const Seconds until = content.job.valid() ? until_of(content.job) : horizon::kNever;
    occupy({.machine = content.machine,
            .to = until,
            .devices = content.devices,
            .taken = content.taken,
            .milli = content.milli,
            .neighbours = content.job.valid() ? rules_of(content.job) : -1});
  }
  for (const model::Running& running : instance_.workload.tables().running) {
    if (running.pinned || must_move(instance_, horizon_, running.job)) continue;
    const auto groups = instance_.workload.groups_of(instance_.workload.job(running.job));
    for (const model::TaskPlacement& task : instance_.workload.tasks_of(running)) {
      occupy({.machine = task.machine,
              .to = until_of(running.job),
              .devices = task.devices,
              .taken = instance_.workload.shape(groups[task.group].shape).needs,
              .milli = task.milli,
              .neighbours = rules_of(running.job)});
    }
  }
  for (const model::Window& window : cluster.windows) {
    for (const model::MachineRange& range : window.machines) {
      for (auto m = range.first; m < range.end; ++m) {
        close(MachineId(m), window.from, window.to, &window);
      }
    }
  }
}

std::int32_t HorizonMachines::rules_of(JobId job) const {
  return static_cast<std::int32_t>(instance_.workload.job(job).rules);
}

Seconds HorizonMachines::until_of(JobId job) const {
  return running_until(instance_, horizon_, instance_.workload.job(job));
}

}  // namespace berth::pipeline
