// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/certify/run.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {
namespace {

using model::Instance;
using model::JobRecord;
using model::JobRun;
using model::TaskPlacement;

/// Counts the faults of a run and keeps the first ones as text.
class RunFaults {
 public:
  RunFaults(const Instance& instance, RunCheck& check) : instance_(instance), check_(check) {}
  void add(const std::string& text) {
    if (check_.faults.size() < RunCheck::kMostFaults) check_.faults.push_back(text);
    ++check_.fault_count;
  }
  void add(JobId job, const std::string& text) {
    add("job " + std::string(instance_.workload.job_names[job.index()]) + ": " + text);
  }

 private:
  const Instance& instance_;
  RunCheck& check_;
};

bool shape_kept(const model::Shape& shape, const TaskPlacement& task, std::int32_t slices) {
  const int devices = std::popcount(task.devices);
  if (shape.gpus > 0) return devices == shape.gpus && task.milli == model::kGpuMilli;
  if (shape.gpu_milli == 0) return devices == 0 && task.milli == 0;
  return devices == 1 && task.milli == model::share_taken(shape.gpu_milli, slices);
}

/// The tasks of one run: counts of every group, devices that exist, one allowed GPU type.
void check_tasks(const Instance& instance, const JobRecord& record, const JobRun& run,
                 RunFaults& faults) {
  const model::Job& job = instance.workload.job(record.job);
  const auto groups = instance.workload.groups_of(job);
  std::vector<std::int64_t> count(groups.size());
  GpuTypeId type;
  for (const TaskPlacement& task : run.tasks) {
    if (task.group >= groups.size()) return faults.add(record.job, "has a task of no group");
    ++count[task.group];
    const model::Shape& shape = instance.workload.shape(groups[task.group].shape);
    const model::MachineClass& machine = instance.cluster.class_of(task.machine);
    if (std::cmp_greater(std::bit_width(task.devices), machine.gpus))
      faults.add(record.job, "has a GPU that is not there");
    if (!shape_kept(shape, task, machine.gpu_slices)) {
      faults.add(record.job, "has a task of another size");
    }
    if (instance.cluster.state_of(task.machine) != model::MachineState::up) {
      faults.add(record.job, "runs on a machine that is not up");
    }
    if (!shape.uses_gpu()) continue;
    if (!model::lists(job, machine.gpu_type))
      faults.add(record.job, "has a GPU type it may not use");
    if (type.valid() && machine.gpu_type != type) faults.add(record.job, "has two GPU types");
    type = machine.gpu_type;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (count[g] != groups[g].count) faults.add(record.job, "runs without all its tasks");
  }
  if (model::width(instance.cluster, run.tasks) > job.domain) {
    faults.add(record.job, "is spread wider than its domain");
  }
  const bool timed = instance.workload.time_of(job).duration != model::kNotGiven;
  const double speed = timed && type.valid() ? instance.workload.speed(job, type) : 1.0;
  if (run.speed != speed) faults.add(record.job, "has the speed of another GPU type");
}

/// Times and work of one job.
void check_times(const Instance& instance, const JobRecord& record, RunFaults& faults) {
  std::int64_t free_from = record.arrival, work = 0;
  for (const JobRun& run : record.runs) {
    if (run.start < free_from) faults.add(record.job, "starts before it arrived or ended before");
    if (run.end < run.start) faults.add(record.job, "ends before it starts");
    const auto length =
        static_cast<double>(std::max<std::int64_t>(0, run.end - run.start - run.overhead));
    if (static_cast<double>(run.work) > std::floor(length * run.speed) + 1.0) {
      faults.add(record.job, "has done more than the clock allows");
    }
    free_from = run.end;
    work += run.work;
    check_tasks(instance, record, run, faults);
  }
  if (!record.runs.empty() && work != record.work) faults.add(record.job, "ends with other work");
}

/// What the files say about a job: arrival, GPUs, work, time alone.
void check_facts(const Instance& instance, const JobRecord& record, RunFaults& faults) {
  const model::Job& job = instance.workload.job(record.job);
  const model::TimeRules& rules = instance.workload.time_of(job);
  if (record.arrival != std::max(job.arrival, rules.not_before) * model::kMicros) {
    faults.add(record.job, "has another arrival");
  }
  if (record.milli != instance.workload.gpu_milli(job)) faults.add(record.job, "has other GPUs");
  const std::int64_t seconds = rules.seconds();
  if (seconds == model::kNotGiven) {
    if (!record.runs.empty()) faults.add(record.job, "runs without a duration");
    return;
  }
  if (record.work != seconds * model::kMicros) faults.add(record.job, "has other work");
  double fastest = 0.0;
  for (std::size_t t = 0; t < instance.cluster.gpu_types.size(); ++t) {
    if (!model::lists(job, GpuTypeId(t))) continue;
    fastest = std::max(fastest, instance.workload.speed(job, GpuTypeId(t)));
  }
  if (record.runs.empty()) return;
  if (record.milli == 0 || rules.duration == model::kNotGiven) fastest = 1.0;
  const double alone = std::ceil(static_cast<double>(record.work) / fastest);
  if (std::abs(alone - static_cast<double>(record.alone)) > 1.0) {
    faults.add(record.job, "has another time alone");
  }
}

/// One machine over time: devices and resources in order of time, ends before starts.
void check_machines(const Instance& instance, std::span<const JobRecord> records,
                    RunFaults& faults) {
  struct TaskEvent {
    std::int64_t time;
    int sign;
    JobId job;
    const TaskPlacement* task;
  };
  std::vector<std::vector<TaskEvent>> changes(instance.cluster.machines());
  for (const JobRecord& record : records) {
    for (const JobRun& run : record.runs) {
      for (const TaskPlacement& task : run.tasks) {
        changes[task.machine.index()].push_back({run.start, +1, record.job, &task});
        changes[task.machine.index()].push_back({run.end, -1, record.job, &task});
      }
    }
  }
  for (std::size_t m = 0; m < changes.size(); ++m) {
    std::ranges::stable_sort(changes[m], {},
                             [](const TaskEvent& c) { return std::pair(c.time, c.sign); });
    std::vector<std::int64_t> used(model::kMaxGpusPerMachine);
    model::Resources taken;
    for (const TaskEvent& change : changes[m]) {
      const auto groups = instance.workload.groups_of(instance.workload.job(change.job));
      if (change.task->group >= groups.size()) continue;
      taken += change.sign * instance.workload.shape(groups[change.task->group].shape).needs;
      bool over = !taken.within(instance.cluster.class_of(MachineId(m)).capacity);
      for (std::uint64_t rest = change.task->devices; rest != 0; rest &= rest - 1) {
        std::int64_t& device = used[static_cast<std::size_t>(std::countr_zero(rest))];
        device += change.sign * change.task->milli;
        over |= device > model::kGpuMilli;
      }
      if (over && change.sign > 0) {
        faults.add(change.job, "takes more of machine " +
                                   std::string(instance.cluster.machine_names[m]) +
                                   " than is free");
      }
    }
  }
}

bool same(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

}  // namespace

RunCheck check_run(const Instance& instance, std::span<const JobRecord> records,
                   const model::RunSummary& summary) {
  RunCheck check;
  RunFaults faults(instance, check);
  std::vector<bool> seen(instance.workload.size());
  for (const JobRecord& record : records) {
    if (seen[record.job.index()]) faults.add(record.job, "has two records");
    seen[record.job.index()] = true;
    check_facts(instance, record, faults);
    check_times(instance, record, faults);
  }
  for (std::size_t j = 0; j < seen.size(); ++j) {
    if (!seen[j]) faults.add(JobId(j), "has no record");
  }
  check_machines(instance, records, faults);
  check.figures = run_figures(instance, records);
  for (const model::RunFigureRow& row : model::kRunFigureRows) {
    const double said = summary.figures.*row.value, found = check.figures.*row.value;
    if (!same(said, found)) {
      faults.add("figure " + std::string(row.key) + " is " + std::to_string(found) +
                 ", the summary has " + std::to_string(said));
    }
  }
  if (summary.instance_digest != model::instance_digest(instance)) {
    faults.add("the run is of another instance");
  }
  return check;
}

}  // namespace berth::certify
