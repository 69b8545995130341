// SPDX-License-Identifier: Apache-2.0
#include "running_tables.hpp"

#include "words.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "berth/base/error.hpp"
#include "berth/model/free_machine.hpp"
#include "berth/model/value.hpp"

namespace berth::io {

using model::Running;
using model::TaskPlacement;

void RunningTables::fail(std::int64_t at, const std::string& field, const std::string& problem,
                         const std::string& hint) const {
  throw InputError({.file = *file_, .line = at, .field = field}, problem, hint);
}

MachineId RunningTables::machine(std::string_view name, std::int64_t at, const std::string& field) {
  if (machines_.empty()) {
    for (std::size_t m = 0; m < cluster_->machines(); ++m) {
      machines_.emplace(cluster_->machine_names[m], m);
    }
  }
  const auto found = machines_.find(name);
  if (found == machines_.end()) fail(at, field, "unknown machine " + in_quotes(name));
  return MachineId(found->second);
}

TaskPlacement RunningTables::task(const JobLine::RunningTask& task, std::size_t index,
                                  std::int64_t at, const model::Workload& workload) {
  const std::string field = "running.tasks[" + std::to_string(index) + "]";
  const auto groups = workload.groups_of(workload.jobs.back());
  const auto found = std::ranges::find_if(
      groups, [&](const model::TaskGroup& g) { return workload.labels[g.label] == task.label; });
  if (found == groups.end()) {
    fail(at, field + ".shape", "the job has no task group " + in_quotes(task.label));
  }
  const model::Shape& shape = workload.shape(found->shape);
  TaskPlacement placed{.machine = machine(task.machine, at, field + ".machine"),
                       .group = static_cast<std::uint32_t>(found - groups.begin()),
                       .devices = task.devices};
  const int devices = std::popcount(task.devices);
  const int asked = shape.gpu_milli > 0 ? 1 : shape.gpus;
  if (devices != asked) {
    fail(
        at, field + ".gpus",
        "has " + std::to_string(devices) + " devices, its shape asks for " + std::to_string(asked));
  }
  if (devices > 0) placed.milli = shape.gpu_milli > 0 ? shape.gpu_milli : int{model::kGpuMilli};
  const std::int32_t asked_milli = placed.milli;
  placed.milli = model::share_taken(asked_milli, cluster_->class_of(placed.machine).gpu_slices);
  if (task.milli != 0 && task.milli != asked_milli && task.milli != placed.milli) {
    fail(at, field + ".gpus",
         "takes " + std::to_string(task.milli) + " thousandths, its shape asks for " +
             std::to_string(asked_milli));
  }
  return placed;
}

void RunningTables::check_counts(std::int64_t at, const model::Workload& workload,
                                 const Running& running) const {
  const auto groups = workload.groups_of(workload.jobs[running.job.index()]);
  const auto tasks = workload.tasks_of(running);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto runs =
        std::ranges::count(tasks, static_cast<std::uint32_t>(g), &TaskPlacement::group);
    if (runs == groups[g].count) continue;
    fail(at, "running.tasks",
         "runs " + std::to_string(runs) + " tasks of " +
             in_quotes(workload.labels[groups[g].label]) + ", the job has " +
             std::to_string(groups[g].count),
         "a gang runs with all its tasks");
  }
}

/// A job that may move also may stay, so it must lie where it could be put.
void RunningTables::check_allowed(std::int64_t at, const model::Workload& workload,
                                  const Running& running) const {
  const model::Job& job = workload.jobs[running.job.index()];
  GpuTypeId type;
  for (const TaskPlacement& t : workload.tasks_of(running)) {
    const GpuTypeId here = cluster_->class_of(t.machine).gpu_type;
    const bool counts = t.devices != 0 || workload.gpu_milli(job) == 0;
    if (!counts) continue;
    const bool any = job.gpu_types == ~std::uint64_t{0};
    const bool allowed = any || (here.valid() && ((job.gpu_types >> here.value()) & 1) != 0);
    const bool mixed = t.devices != 0 && type.valid() && here != type;
    if (!allowed || mixed) {
      fail(at, "running.tasks",
           "machine " + in_quotes(cluster_->machine_names[t.machine.index()]) +
               (mixed ? " has another GPU type than the job's other tasks"
                      : " has a GPU type that the job's gpu_types do not allow"),
           "say \"pinned\": true for a job that runs against its own rules");
    }
    if (t.devices != 0) type = here;
  }
  if (model::width(*cluster_, workload.tasks_of(running)) > job.domain) {
    fail(at, "running.tasks", "lies wider than the job's \"domain\"",
         "say \"pinned\": true for a job that runs against its own rules");
  }
}

void RunningTables::pin(const model::Workload& workload, const Running& running) {
  const auto groups = workload.groups_of(workload.jobs[running.job.index()]);
  for (const TaskPlacement& t : workload.tasks_of(running)) {
    const model::Shape& shape = workload.shape(groups[t.group].shape);
    cluster_->immovable.push_back({.machine = t.machine,
                                   .devices = t.devices,
                                   .milli = t.milli,
                                   .cpu_milli = shape.cpu_milli,
                                   .memory_mib = shape.memory_mib,
                                   .nic_mbps = shape.nic_mbps,
                                   .job = running.job});
  }
}

void RunningTables::add(const JobLine& line, std::int64_t at, model::Workload& workload) {
  if (line.running.empty()) return;
  Running running{.job = JobId(workload.jobs.size() - 1),
                  .pinned = line.pinned,
                  .stop_cost = line.stop_cost,
                  .move_cost = line.move_cost,
                  .first_task = static_cast<std::uint32_t>(workload.running_tasks.size()),
                  .tasks = static_cast<std::uint32_t>(line.running.size())};
  for (std::size_t i = 0; i < line.running.size(); ++i) {
    workload.running_tasks.push_back(task(line.running[i], i, at, workload));
    const MachineId m = workload.running_tasks.back().machine;
    if (cluster_->state_of(m) != model::MachineState::up) running.pinned = true;
  }
  const auto first = workload.running_tasks.begin() + running.first_task;
  std::sort(
      first, workload.running_tasks.end(), [](const TaskPlacement& a, const TaskPlacement& b) {
        return std::tie(a.group, a.machine, a.devices) < std::tie(b.group, b.machine, b.devices);
      });
  check_counts(at, workload, running);
  if (running.pinned) {
    pin(workload, running);
  } else {
    check_allowed(at, workload, running);
  }
  workload.jobs.back().running = static_cast<std::int32_t>(workload.running.size());
  workload.running.push_back(running);
  lines_.push_back(at);
}

void RunningTables::finish(const model::Workload& workload) {
  if (workload.running.empty()) return;
  std::ranges::stable_sort(cluster_->immovable, {}, &model::Immovable::machine);
  std::unordered_map<std::int32_t, model::FreeMachine> free;  // of machines where something runs
  const auto on = [&](MachineId m) -> model::FreeMachine& {
    return free.try_emplace(m.value(), cluster_->class_of(m)).first->second;
  };
  const auto take = [&](const model::Immovable& piece, std::int64_t at) {
    if (!on(piece.machine).fits(piece)) {
      fail(at, "running.tasks",
           "machine " + in_quotes(cluster_->machine_names[piece.machine.index()]) +
               " does not hold all that is said to run there");
    }
    on(piece.machine).take(piece);
  };
  for (const model::Immovable& piece : cluster_->immovable) {
    if (!piece.job.valid()) take(piece, 0);
  }
  for (std::size_t r = 0; r < workload.running.size(); ++r) {
    const Running& running = workload.running[r];
    const auto groups = workload.groups_of(workload.jobs[running.job.index()]);
    for (const TaskPlacement& t : workload.tasks_of(running)) {
      const model::Shape& shape = workload.shape(groups[t.group].shape);
      take({t.machine, t.devices, t.milli, shape.cpu_milli, shape.memory_mib, shape.nic_mbps,
            running.job},
           lines_[r]);
    }
  }
}

}  // namespace berth::io
