// SPDX-License-Identifier: Apache-2.0
#include "running_tables.hpp"

#include "job_rules.hpp"
#include "job_time.hpp"
#include "windows.hpp"
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

/// Reads where the job of one line runs; it is the last job of the block.
class RunningJobReader {
 public:
  RunningJobReader(std::uint32_t at, const ClusterNames& cluster_names, JobBlock& block)
      : at_(at),
        cluster_names_(cluster_names),
        records_(block.records),
        tables_(block.tables.shared),
        shapes_(block.tables.running_shapes) {}

  void add(const JobLine& line);

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& problem,
                         const std::string& hint = {}) const;
  [[nodiscard]] TaskPlacement task(const JobLine::RunningTask& task, std::size_t index) const;
  void check_counts(const Running& running) const;
  void check_allowed(const Running& running) const;
  [[nodiscard]] std::int64_t present_seconds(const JobLine& line, const Running& running) const;
  void check_windows(const JobLine& line, const Running& running) const;

  std::uint32_t at_;
  const ClusterNames& cluster_names_;
  model::JobSet& records_;
  model::WorkloadTables& tables_;
  std::vector<ShapeId>& shapes_;  // by running task
};

void RunningJobReader::fail(const std::string& field, const std::string& problem,
                            const std::string& hint) const {
  throw InputError({.file = {}, .line = at_, .field = field}, problem, hint);
}

TaskPlacement RunningJobReader::task(const JobLine::RunningTask& task, std::size_t index) const {
  const std::string field = "running.tasks[" + std::to_string(index) + "]";
  const auto groups = records_.groups_of(records_.jobs.back());
  const auto found = std::ranges::find_if(
      groups, [&](const model::TaskGroup& g) { return tables_.labels[g.label] == task.label; });
  if (found == groups.end()) {
    fail(field + ".shape", "the job has no task group " + in_quotes(task.label));
  }
  const model::Shape& shape = tables_.shape(found->shape);
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
  const auto groups = records_.groups_of(records_.jobs[running.job.index()]);
  const auto tasks = tables_.tasks_of(running);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto runs =
        std::ranges::count(tasks, static_cast<std::uint32_t>(g), &TaskPlacement::group);
    if (runs == groups[g].count) continue;
    fail("running.tasks",
         "runs " + std::to_string(runs) + " tasks of " +
             in_quotes(tables_.labels[groups[g].label]) + ", the job has " +
             std::to_string(groups[g].count),
         "a gang runs with all its tasks");
  }
}

/// A movable job may also stay, so its present placement must be allowed.
void RunningJobReader::check_allowed(const Running& running) const {
  const model::Job& job = records_.jobs[running.job.index()];
  const model::WorkloadView workload(tables_, records_);
  const auto groups = workload.groups_of(job);
  GpuTypeId type;
  for (const TaskPlacement& t : tables_.tasks_of(running)) {
    const GpuTypeId here = cluster_names_.cluster().class_of(t.machine).gpu_type;
    const bool allowed = workload.allows(job, workload.shape(groups[t.group].shape), here);
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
  if (model::width(cluster_names_.cluster(), tables_.tasks_of(running)) > job.domain) {
    fail("running.tasks", "lies wider than the job's \"domain\"",
         "say \"pinned\": true for a job that runs against its own rules");
  }
  const BrokenRule broken =
      broken_rule(cluster_names_.cluster(), tables_.rules_of(job), tables_.tasks_of(running));
  if (!broken.key.empty()) {
    fail("running.tasks",
         broken.text + ", which the job's \"" + std::string(broken.key) + "\" does not allow",
         "say \"pinned\": true for a job that runs against its own rules");
  }
}

/// Seconds from start to end on the GPUs where the job runs; kNotGiven: it has no end.
std::int64_t RunningJobReader::present_seconds(const JobLine& line, const Running& running) const {
  double speed = 1.0;
  for (const TaskPlacement& t : tables_.tasks_of(running)) {
    const model::Cluster& cluster = cluster_names_.cluster();
    const GpuTypeId type = cluster.class_of(t.machine).gpu_type;
    if (t.devices != 0) speed = speed_on(line, cluster_names_.gpu_types()[type.index()]);
  }
  return speed == 0.0 ? model::kNotGiven : seconds_at(line, speed);
}

/// Refuses a job that says "pinned" on a machine that a window closes to it while it runs. A job
/// with "remaining" ends at a time that depends on the moment of the plan.
void RunningJobReader::check_windows(const JobLine& line, const Running& running) const {
  if (!line.pinned || running.remaining != model::kNotGiven) return;
  const std::int64_t seconds = present_seconds(line, running);
  const bool ends = running.since != model::kNotGiven && seconds != model::kNotGiven;
  const HeldTime held{.name = line.id,
                      .queue = records_.jobs.back().queue,
                      .since = std::max<std::int64_t>(running.since, 0),
                      .end = ends ? running.since + seconds : model::kNever};
  for (const TaskPlacement& t : tables_.tasks_of(running)) {
    const model::Window* window = collision(cluster_names_.cluster(), t.machine, held);
    if (window == nullptr) continue;
    fail("running.pinned",
         "holds machine " + in_quotes(cluster_names_.cluster().machine_names[t.machine.index()]) +
             (ends ? " until " + std::to_string(held.end) : " without an end") +
             ", which a window closes to it from " + std::to_string(window->from) + " to " +
             std::to_string(window->to),
         ends ? "drop \"pinned\" or change the window"
              : "say when it ends: \"since\" and \"duration\", or \"remaining\"");
  }
}

void RunningJobReader::add(const JobLine& line) {
  Running running{.job = JobId(records_.jobs.size() - 1),
                  .pinned = line.pinned,
                  .stop_cost = line.stop_cost,
                  .move_cost = line.move_cost,
                  .first_task = static_cast<std::uint32_t>(tables_.running_tasks.size()),
                  .tasks = static_cast<std::uint32_t>(line.running.size()),
                  .rules = records_.jobs.back().rules,
                  .since = line.time.since,
                  .remaining = line.time.remaining,
                  .priority = line.priority};
  for (std::size_t i = 0; i < line.running.size(); ++i) {
    tables_.running_tasks.push_back(task(line.running[i], i));
    const MachineId m = tables_.running_tasks.back().machine;
    const model::MachineState state = cluster_names_.cluster().state_of(m);
    running.pinned |=
        state == model::MachineState::drained || state == model::MachineState::reserved;
  }
  const auto first = tables_.running_tasks.begin() + running.first_task;
  std::sort(first, tables_.running_tasks.end(), [](const TaskPlacement& a, const TaskPlacement& b) {
    return std::tie(a.group, a.machine, a.devices) < std::tie(b.group, b.machine, b.devices);
  });
  for (const TaskPlacement& t : tables_.tasks_of(running)) {
    shapes_.push_back(records_.groups_of(records_.jobs.back())[t.group].shape);
  }
  check_counts(running);
  if (!running.pinned) check_allowed(running);
  check_windows(line, running);
  records_.jobs.back().running = static_cast<std::int32_t>(tables_.running.size());
  tables_.running.push_back(running);
}

}  // namespace

void add_running(const JobLine& line, std::uint32_t at, const ClusterNames& cluster_names,
                 JobBlock& block) {
  RunningJobReader(at, cluster_names, block).add(line);
}

}  // namespace berth::io
