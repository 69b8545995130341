// SPDX-License-Identifier: Apache-2.0
#include "run_rules.hpp"

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
/// @param slowed  jobs that share machines interfere
void check_tasks(const Instance& instance, const JobRecord& record, const JobRun& run, bool slowed,
                 RunFaults& faults) {
  const model::Job& job = instance.workload.job(record.job);
  const auto groups = instance.workload.groups_of(job);
  const auto& rules = instance.workload.time_of(job);
  const auto& choices = instance.workload.configurations[rules.configurations];
  const bool elastic = !choices.empty();
  if (elastic != (run.configuration >= 0) ||
      (elastic && static_cast<std::size_t>(run.configuration) >= choices.size())) {
    return faults.add(record.job, "has no configuration of the jobs file");
  }
  const bool pinned = is_pinned_run(instance, record.job, run);
  const model::Configuration* chosen =
      elastic ? &choices[static_cast<std::size_t>(run.configuration)] : nullptr;
  std::vector<std::int64_t> count(groups.size());
  std::int64_t milli = 0;
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
    if (!pinned && instance.cluster.state_of(task.machine) != model::MachineState::up) {
      faults.add(record.job, "runs on a machine that is not up");
    }
    if (!shape.uses_gpu()) continue;
    if (!pinned && !model::lists(job, machine.gpu_type))
      faults.add(record.job, "has a GPU type it may not use");
    if (type.valid() && machine.gpu_type != type) faults.add(record.job, "has two GPU types");
    type = machine.gpu_type;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::int64_t asked = elastic ? chosen->counts[g] : groups[g].count;
    if (count[g] != asked) faults.add(record.job, "runs without all its tasks");
    milli += asked * instance.workload.shape(groups[g].shape).total_milli();
  }
  if (run.milli != milli) faults.add(record.job, "counts other GPUs than its tasks have");
  if (!pinned && model::width(instance.cluster, run.tasks) > job.domain) {
    faults.add(record.job, "is spread wider than its domain");
  }
  const bool timed = instance.workload.time_of(job).duration != model::kNotGiven;
  if (record.profiled) return;
  double speed = timed && type.valid() ? instance.workload.speed(job, type) : 1.0;
  if (elastic) speed *= chosen->speed;
  if (run.speed > speed || (run.speed < speed && run.rates.empty() && !slowed))
    faults.add(record.job, "has the speed of another GPU type");
  for (const model::RateStep& step : run.rates) {
    if (step.speed > speed) faults.add(record.job, "runs faster than its GPU type");
  }
}

/// The most work that the clock allows at the run's rates: each stretch rounded down, and one
/// microsecond of work for the completion, which is rounded up.
double most_work(const JobRun& run) {
  double work = 1.0;
  std::int64_t time = run.start + run.overhead;
  for (std::size_t i = 0; i <= run.rates.size(); ++i) {
    const std::int64_t next = i < run.rates.size() ? std::min(run.rates[i].time, run.end) : run.end;
    const double rate = i == 0 ? run.speed : run.rates[i - 1].speed;
    if (next <= time) continue;
    work += std::floor(static_cast<double>(next - time) * rate);
    time = next;
  }
  return work;
}

/// A run whose last rate leaves its work to a completion ends when that work is done, not later.
bool ends_late(const JobRun& run) {
  if (run.ended != model::RunEnd::completed) return false;
  JobRun shorter = run;
  shorter.end = run.end - 2;
  const double rate = run.rates.empty() ? run.speed : run.rates.back().speed;
  return most_work(shorter) - 1.0 > static_cast<double>(run.work) + 2.0 * rate;
}

/// Times and work of one job.
void check_times(const Instance& instance, const JobRecord& record, bool slowed,
                 RunFaults& faults) {
  std::int64_t free_from = record.arrival, work = 0;
  for (const JobRun& run : record.runs) {
    if (run.start < free_from) faults.add(record.job, "starts before it arrived or ended before");
    if (run.end < run.start) faults.add(record.job, "ends before it starts");
    if (static_cast<double>(run.work) > most_work(run)) {
      faults.add(record.job, "has done more than the clock allows");
    }
    if (ends_late(run)) faults.add(record.job, "runs on after its work is done");
    if (!std::ranges::is_sorted(run.rates, {}, &model::RateStep::time))
      faults.add(record.job, "has rates out of order");
    free_from = run.end;
    work += run.work;
    check_tasks(instance, record, run, slowed, faults);
  }
  if (!record.runs.empty() && work != record.work) faults.add(record.job, "ends with other work");
  if (record.refused && !record.runs.empty()) faults.add(record.job, "is refused and has run");
}

/// What the files say about a job: arrival, GPUs, work, time alone.
void check_facts(const Instance& instance, const JobRecord& record, RunFaults& faults) {
  const model::Job& job = instance.workload.job(record.job);
  const model::TimeRules& rules = instance.workload.time_of(job);
  if (record.arrival != std::max(job.arrival, rules.not_before) * model::kMicros) {
    faults.add(record.job, "has another arrival");
  }
  const auto& choices = instance.workload.configurations[rules.configurations];
  if (choices.empty() && record.milli != instance.workload.gpu_milli(job))
    faults.add(record.job, "has other GPUs");
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
  if (record.runs.empty() || record.profiled) return;
  double widest = 0.0;  // the fastest configuration
  for (const auto& choice : instance.workload.configurations[rules.configurations])
    widest = std::max(widest, choice.speed);
  if (record.milli == 0 || rules.duration == model::kNotGiven) fastest = 1.0;
  if (widest > 0.0) fastest *= widest;
  const double alone = std::ceil(static_cast<double>(record.work) / fastest);
  if (std::abs(alone - static_cast<double>(record.alone)) > 1.0) {
    faults.add(record.job, "has another time alone");
  }
}

/// Jobs that start before those end that they wait for.
void check_dependencies(const Instance& instance, std::span<const JobRecord> records,
                        RunFaults& faults) {
  if (instance.workload.dependencies.empty()) return;
  std::vector<const JobRecord*> of(instance.workload.size());
  for (const JobRecord& record : records) of[record.job.index()] = &record;
  for (const model::Dependency& d : instance.workload.dependencies) {
    const JobRecord *job = of[d.job.index()], *after = of[d.after.index()];
    if (job == nullptr || after == nullptr || job->runs.empty()) continue;
    if (after->runs.empty() || job->runs.front().start < after->end())
      faults.add(d.job, "starts before a job ends that it waits for");
  }
}

/// Nothing is on machines while they are down or in a window.
void check_down(const Instance& instance, std::span<const JobRecord> records,
                std::span<const MachineDown> down, RunFaults& faults) {
  std::vector<std::vector<MachineDown>> of(instance.cluster.machines());
  for (const MachineDown& d : down) of[d.machine.index()].push_back(d);
  for (const model::Window& window : instance.cluster.windows) {
    for (const model::MachineRange& range : window.machines) {
      for (std::int32_t m = range.first; m < range.end; ++m) {
        of[static_cast<std::size_t>(m)].push_back(
            {MachineId(m), window.from * model::kMicros, window.to * model::kMicros});
      }
    }
  }
  for (const JobRecord& record : records) {
    for (const JobRun& run : record.runs) {
      for (const TaskPlacement& task : run.tasks) {
        for (const MachineDown& d : of[task.machine.index()]) {
          if (run.start < d.to && run.end > d.from)
            faults.add(record.job, "runs on a machine that is down or closed");
        }
      }
    }
  }
}

/// An amount that runs take, over time; runs that end at a moment give it back before others start.
class UseOverTime {
 public:
  void add(const JobRun& run, std::int64_t amount) {
    changes_[{run.start, 1}] += amount;
    changes_[{run.end, 0}] -= amount;
  }
  [[nodiscard]] std::int64_t most() const {
    std::int64_t used = 0, most = 0;
    for (const auto& [when, by] : changes_) most = std::max(most, used += by);
    return most;
  }

 private:
  std::map<std::pair<std::int64_t, int>, std::int64_t> changes_;
};

/// GPU thousandths of each queue with a hard quota over time, children included.
void check_quotas(const Instance& instance, std::span<const JobRecord> records, RunFaults& faults) {
  const auto& queues = instance.cluster.queues;
  std::vector<UseOverTime> use(queues.size());
  for (const JobRecord& record : records) {
    for (QueueId q = instance.workload.job(record.job).queue; q.valid();
         q = queues[q.index()].parent) {
      if (!queues[q.index()].hard()) continue;
      for (const JobRun& run : record.runs) use[q.index()].add(run, run.milli);
    }
  }
  for (std::size_t q = 0; q < queues.size(); ++q) {
    if (queues[q].hard() && use[q].most() > queues[q].gpu_quota * model::kGpuMilli)
      faults.add("queue " + queues[q].name + " exceeds its quota");
  }
}

/// Licenses in use over time.
void check_licenses(const Instance& instance, std::span<const JobRecord> records,
                    RunFaults& faults) {
  const auto& licenses = instance.cluster.licenses;
  std::vector<UseOverTime> use(licenses.size());
  for (const JobRecord& record : records) {
    for (const auto& one : instance.workload.rules_of(instance.workload.job(record.job)).licenses) {
      for (const JobRun& run : record.runs) use[one.license].add(run, one.count);
    }
  }
  for (std::size_t l = 0; l < licenses.size(); ++l) {
    if (use[l].most() > licenses[l].count)
      faults.add("jobs take more licenses " + licenses[l].name + " than there are");
  }
}

/// One machine over time: devices and resources in order of time, ends before starts.
void check_machines(const Instance& instance, std::span<const JobRecord> records,
                    RunFaults& faults) {
  struct TaskEvent {
    std::int64_t time;
    int sign;
    JobId job;
    TaskPlacement task;
  };
  std::vector<std::vector<TaskEvent>> changes(instance.cluster.machines());
  for (const JobRecord& record : records) {
    for (const JobRun& run : record.runs) {
      for (const TaskPlacement& task : run.tasks) {
        changes[task.machine.index()].push_back({run.start, +1, record.job, task});
        changes[task.machine.index()].push_back({run.end, -1, record.job, task});
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
      if (change.task.group >= groups.size()) continue;
      taken += change.sign * instance.workload.shape(groups[change.task.group].shape).needs;
      bool over = !taken.within(instance.cluster.class_of(MachineId(m)).capacity);
      for (std::uint64_t rest = change.task.devices; rest != 0; rest &= rest - 1) {
        std::int64_t& device = used[static_cast<std::size_t>(std::countr_zero(rest))];
        device += change.sign * change.task.milli;
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
                   const model::RunSummary& summary, std::span<const MachineDown> down) {
  RunCheck check;
  RunFaults faults(instance, check);
  std::vector<bool> seen(instance.workload.size());
  const auto interference = summary.options.find("interference");
  const bool slowed = interference != summary.options.end() && interference->second != "0";
  for (const JobRecord& record : records) {
    if (seen[record.job.index()]) faults.add(record.job, "has two records");
    seen[record.job.index()] = true;
    check_facts(instance, record, faults);
    check_times(instance, record, slowed, faults);
  }
  for (std::size_t j = 0; j < seen.size(); ++j) {
    if (!seen[j]) faults.add(JobId(j), "has no record");
  }
  check_machines(instance, records, faults);
  check_dependencies(instance, records, faults);
  check_down(instance, records, down, faults);
  check_quotas(instance, records, faults);
  check_licenses(instance, records, faults);
  check_run_rules(instance, records,
                  [&](JobId job, const std::string& text) { faults.add(job, text); });
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
