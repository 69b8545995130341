// SPDX-License-Identifier: Apache-2.0
#include "berth/report/plan_by_names.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace berth::report {
namespace {

using Ids = std::map<std::string_view, std::size_t>;

Ids ids_of(const NameTable& names) {
  Ids ids;
  for (std::size_t i = 0; i < names.size(); ++i) ids.emplace(names[i], i);
  return ids;
}

/// Devices of a task on a machine of this class; nullopt when the machine lacks one.
std::optional<model::TaskPlacement> on_devices(const model::RawTask& task,
                                               const model::MachineClass& machine) {
  model::TaskPlacement placed;
  for (const model::RawDevice& device : task.gpus) {
    if (device.index < 0 || device.index >= machine.gpus) return std::nullopt;
    if (device.milli < 1 || device.milli > model::kGpuMilli) return std::nullopt;
    placed.devices |= std::uint64_t{1} << device.index;
    placed.milli = static_cast<std::int32_t>(device.milli);
  }
  return placed;
}

class Lookup {
 public:
  explicit Lookup(const model::InstanceView& instance)
      : instance_(instance),
        jobs_(ids_of(instance.workload.tables().job_names)),
        machines_(ids_of(instance.cluster.machine_names)) {}

  [[nodiscard]] std::optional<JobId> job(std::string_view name) const {
    const auto at = jobs_.find(name);
    return at == jobs_.end() ? std::nullopt : std::optional(JobId(at->second));
  }

  /// The same tasks on the same devices; nullopt when the job or a machine is another one now.
  [[nodiscard]] std::optional<model::JobPlacement> place(JobId id,
                                                         const model::RawPlacement& raw) const {
    const model::Job& job = instance_.workload.job(id);
    const auto groups = instance_.workload.groups_of(job);
    std::vector<std::int32_t> left;
    for (const model::TaskGroup& group : groups) left.push_back(group.count);
    model::JobPlacement placed{.job = id, .start = raw.start, .tasks = {}};
    for (const model::RawTask& task : raw.tasks) {
      const auto machine = machines_.find(task.machine);
      const auto group = std::ranges::find(groups, task.shape, [&](const model::TaskGroup& g) {
        return std::string_view(instance_.workload.tables().labels[g.label]);
      });
      if (machine == machines_.end() || group == groups.end()) return std::nullopt;
      const MachineId m(machine->second);
      const model::MachineClass& on = instance_.cluster.class_of(m);
      if (!task.gpus.empty() && !model::lists(job, on.gpu_type)) return std::nullopt;
      auto at = on_devices(task, on);
      if (!at) return std::nullopt;
      at->machine = m;
      at->group = static_cast<std::uint32_t>(group - groups.begin());
      --left[at->group];
      placed.tasks.push_back(*at);
    }
    if (std::ranges::any_of(left, [](std::int32_t tasks) { return tasks != 0; })) {
      return std::nullopt;
    }
    return placed;
  }

 private:
  model::InstanceView instance_;
  Ids jobs_, machines_;
};

}  // namespace

PlanByNames by_names(const model::InstanceView& instance, const model::RawPlan& plan) {
  const Lookup lookup(instance);
  PlanByNames result;
  std::vector<char> named(instance.workload.tables().job_names.size(), 0);
  for (const model::RawPlacement& raw : plan.placements) {
    const auto job = lookup.job(raw.job);
    if (!job) {
      result.gone.push_back(&raw);
      continue;
    }
    named[job->index()] = 1;
    if (auto placed = lookup.place(*job, raw)) {
      result.placement.push_back(*std::move(placed));
    } else {
      result.changed.emplace_back(*job, &raw);
    }
  }
  for (const model::RawUnplacedJob& waits : plan.waiting) {
    if (const auto job = lookup.job(waits.job)) named[job->index()] = 1;
  }
  for (std::size_t j = 0; j < named.size(); ++j) {
    if (named[j] == 0) result.fresh.emplace_back(j);
  }
  std::ranges::sort(result.placement, {}, &model::JobPlacement::job);
  std::ranges::sort(result.changed);
  return result;
}

std::int64_t gpu_milli(const model::RawPlacement& placed) {
  std::int64_t sum = 0;
  for (const model::RawTask& task : placed.tasks) {
    for (const model::RawDevice& device : task.gpus) sum += device.milli;
  }
  return sum;
}

}  // namespace berth::report
