// SPDX-License-Identifier: Apache-2.0
#include "running_tables.hpp"

#include "words.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "berth/base/error.hpp"
#include "berth/model/placement.hpp"

namespace berth::io {
namespace {

using model::Running;
using model::TaskPlacement;

/// Reads where the job of one line runs; it is the last job of the workload.
class RunningJobReader {
 public:
  RunningJobReader(std::uint32_t at, const ClusterNames& cluster_names, model::Workload& workload)
      : at_(at), cluster_names_(cluster_names), workload_(workload) {}

  void add(const JobLine& line);

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& problem,
                         const std::string& hint = {}) const;
  [[nodiscard]] TaskPlacement task(const JobLine::RunningTask& task, std::size_t index) const;
  void check_counts(const Running& running) const;
  void check_allowed(const Running& running) const;

  std::uint32_t at_;
  const ClusterNames& cluster_names_;
  model::Workload& workload_;
};

void RunningJobReader::fail(const std::string& field, const std::string& problem,
                            const std::string& hint) const {
  throw InputError({.file = {}, .line = at_, .field = field}, problem, hint);
}

TaskPlacement RunningJobReader::task(const JobLine::RunningTask& task, std::size_t index) const {
  const std::string field = "running.tasks[" + std::to_string(index) + "]";
  const auto groups = workload_.groups_of(workload_.jobs.back());
  const auto found = std::ranges::find_if(
      groups, [&](const model::TaskGroup& g) { return workload_.labels[g.label] == task.label; });
  if (found == groups.end()) {
    fail(field + ".shape", "the job has no task group " + in_quotes(task.label));
  }
  const model::Shape& shape = workload_.shape(found->shape);
  const MachineId machine = cluster_names_.machine(task.machine);
  if (!machine.valid()) fail(field + ".machine", "unknown machine " + in_quotes(task.machine));
  TaskPlacement placed{.machine = machine,
                       .group = static_cast<std::uint32_t>(found - groups.begin()),
                       .devices = task.devices};
  const int devices = std::popcount(task.devices);
  const int asked = shape.gpu_milli > 0 ? 1 : shape.gpus;
  if (devices != asked) {
    fail(field + ".gpus", "has " + std::to_string(devices) + " devices, its shape asks for " +
                              std::to_string(asked));
  }
  if (devices > 0) placed.milli = shape.gpu_milli > 0 ? shape.gpu_milli : int{model::kGpuMilli};
  const std::int32_t asked_milli = placed.milli;
  placed.milli =
      model::share_taken(asked_milli, cluster_names_.cluster().class_of(placed.machine).gpu_slices);
  if (task.milli != 0 && task.milli != asked_milli && task.milli != placed.milli) {
    fail(field + ".gpus", "takes " + std::to_string(task.milli) +
                              " thousandths, its shape asks for " + std::to_string(asked_milli));
  }
  return placed;
}

void RunningJobReader::check_counts(const Running& running) const {
  const auto groups = workload_.groups_of(workload_.jobs[running.job.index()]);
  const auto tasks = workload_.tasks_of(running);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto runs =
        std::ranges::count(tasks, static_cast<std::uint32_t>(g), &TaskPlacement::group);
    if (runs == groups[g].count) continue;
    fail("running.tasks",
         "runs " + std::to_string(runs) + " tasks of " +
             in_quotes(workload_.labels[groups[g].label]) + ", the job has " +
             std::to_string(groups[g].count),
         "a gang runs with all its tasks");
  }
}

/// A movable job may also stay, so its present placement must be allowed.
void RunningJobReader::check_allowed(const Running& running) const {
  const model::Job& job = workload_.jobs[running.job.index()];
  GpuTypeId type;
  for (const TaskPlacement& t : workload_.tasks_of(running)) {
    const GpuTypeId here = cluster_names_.cluster().class_of(t.machine).gpu_type;
    const bool counts = t.devices != 0 || workload_.gpu_milli(job) == 0;
    if (!counts) continue;
    const bool any = job.gpu_types == ~std::uint64_t{0};
    const bool allowed = any || (here.valid() && ((job.gpu_types >> here.value()) & 1) != 0);
    const bool mixed = t.devices != 0 && type.valid() && here != type;
    if (!allowed || mixed) {
      fail("running.tasks",
           "machine " + in_quotes(cluster_names_.cluster().machine_names[t.machine.index()]) +
               (mixed ? " has another GPU type than the job's other tasks"
                      : " has a GPU type that the job's gpu_types do not allow"),
           "say \"pinned\": true for a job that runs against its own rules");
    }
    if (t.devices != 0) type = here;
  }
  if (model::width(cluster_names_.cluster(), workload_.tasks_of(running)) > job.domain) {
    fail("running.tasks", "lies wider than the job's \"domain\"",
         "say \"pinned\": true for a job that runs against its own rules");
  }
}

void RunningJobReader::add(const JobLine& line) {
  Running running{.job = JobId(workload_.jobs.size() - 1),
                  .pinned = line.pinned,
                  .stop_cost = line.stop_cost,
                  .move_cost = line.move_cost,
                  .first_task = static_cast<std::uint32_t>(workload_.running_tasks.size()),
                  .tasks = static_cast<std::uint32_t>(line.running.size())};
  for (std::size_t i = 0; i < line.running.size(); ++i) {
    workload_.running_tasks.push_back(task(line.running[i], i));
    const MachineId m = workload_.running_tasks.back().machine;
    if (cluster_names_.cluster().state_of(m) != model::MachineState::up) running.pinned = true;
  }
  const auto first = workload_.running_tasks.begin() + running.first_task;
  std::sort(
      first, workload_.running_tasks.end(), [](const TaskPlacement& a, const TaskPlacement& b) {
        return std::tie(a.group, a.machine, a.devices) < std::tie(b.group, b.machine, b.devices);
      });
  check_counts(running);
  if (!running.pinned) check_allowed(running);
  workload_.jobs.back().running = static_cast<std::int32_t>(workload_.running.size());
  workload_.running.push_back(running);
}

}  // namespace

void add_running(const JobLine& line, std::uint32_t at, const ClusterNames& cluster_names,
                 model::Workload& workload) {
  RunningJobReader(at, cluster_names, workload).add(line);
}

}  // namespace berth::io
