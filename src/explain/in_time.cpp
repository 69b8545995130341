// SPDX-License-Identifier: Apache-2.0
#include "berth/explain/in_time.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "berth/model/task_placement.hpp"

namespace berth::explain {
namespace {

struct DeviceUse {
  MachineId machine;
  std::int64_t device = 0;
  std::int64_t milli = 0;
};

/// A job of the plan, by ids.
struct TimedJob {
  JobId job;
  std::int64_t start = 0;
  std::int64_t end = 0;  ///< kNever: none
  std::vector<MachineId> machines = {};  ///< ascending, distinct
  std::vector<DeviceUse> devices = {};

  [[nodiscard]] bool runs_at(std::int64_t time) const { return start <= time && time < end; }
};

std::map<std::string_view, std::size_t> by_name(const NameTable& names) {
  std::map<std::string_view, std::size_t> ids;
  for (std::size_t i = 0; i < names.size(); ++i) ids.emplace(names[i], i);
  return ids;
}

template <class Id>
void make_set(std::vector<Id>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

struct PlannedStarts::State {
  model::InstanceView instance;
  std::int64_t now = 0;
  std::vector<TimedJob> jobs;                     ///< ascending job
  std::vector<std::vector<std::size_t>> on;       ///< by machine: positions in `jobs`

  [[nodiscard]] const TimedJob* find(JobId job) const {
    const auto at = std::ranges::lower_bound(jobs, job, {}, &TimedJob::job);
    return at != jobs.end() && at->job == job ? &*at : nullptr;
  }
  [[nodiscard]] std::vector<JobId> leaving(const TimedJob& job) const;
  [[nodiscard]] bool closed(const model::Window& window, JobId id) const;
  [[nodiscard]] std::vector<MachineId> opening(const TimedJob& job) const;
};

/// Jobs that end as this one starts, on GPUs that had no room for it the second before.
std::vector<JobId> PlannedStarts::State::leaving(const TimedJob& job) const {
  std::vector<JobId> result;
  for (const DeviceUse& own : job.devices) {
    std::int64_t before = 0;
    std::vector<JobId> ending;
    for (const std::size_t p : on[own.machine.index()]) {
      const TimedJob& other = jobs[p];
      if (other.job == job.job || !other.runs_at(job.start - 1)) continue;
      for (const DeviceUse& use : other.devices) {
        if (use.machine != own.machine || use.device != own.device) continue;
        before += use.milli;
        if (other.end == job.start) ending.push_back(other.job);
      }
    }
    if (before + own.milli > model::kGpuMilli) {
      result.insert(result.end(), ending.begin(), ending.end());
    }
  }
  make_set(result);
  return result;
}

/// True when the window closes its machines to the job.
bool PlannedStarts::State::closed(const model::Window& window, JobId id) const {
  if (window.kind == model::WindowKind::maintenance) return true;
  if (std::ranges::binary_search(window.job_ids, id)) return false;
  const auto& queues = instance.cluster.queues;
  for (QueueId q = instance.workload.job(id).queue; q.valid(); q = queues[q.index()].parent) {
    if (std::ranges::binary_search(window.queues, q)) return false;
  }
  return true;
}

std::vector<MachineId> PlannedStarts::State::opening(const TimedJob& job) const {
  std::vector<MachineId> result;
  for (const model::Window& window : instance.cluster.windows) {
    if (window.to != job.start || !closed(window, job.job)) continue;
    for (const MachineId m : job.machines) {
      const auto holds = [&](const model::MachineRange& range) {
        return static_cast<std::size_t>(range.first) <= m.index() &&
               m.index() < static_cast<std::size_t>(range.end);
      };
      if (std::ranges::any_of(window.machines, holds)) result.push_back(m);
    }
  }
  make_set(result);
  return result;
}

PlannedStarts::PlannedStarts(const model::InstanceView& instance, const model::RawHorizonPlan& plan)
    : state_(new State{.instance = instance, .now = plan.now, .jobs = {}, .on = {}}) {
  const auto jobs = by_name(instance.workload.tables().job_names);
  const auto machines = by_name(instance.cluster.machine_names);
  for (std::size_t p = 0; p < plan.plan.placements.size() && p < plan.ends.size(); ++p) {
    const model::RawPlacement& placed = plan.plan.placements[p];
    const auto id = jobs.find(placed.job);
    if (id == jobs.end()) continue;
    TimedJob job{.job = JobId(id->second),
                 .start = placed.start,
                 .end = plan.ends[p].value_or(model::kNever)};
    for (const model::RawTask& task : placed.tasks) {
      const auto at = machines.find(task.machine);
      if (at == machines.end()) continue;
      job.machines.emplace_back(at->second);
      for (const model::RawDevice& device : task.gpus) {
        job.devices.push_back({MachineId(at->second), device.index, device.milli});
      }
    }
    make_set(job.machines);
    state_->jobs.push_back(std::move(job));
  }
  std::ranges::sort(state_->jobs, {}, &TimedJob::job);
  state_->on.resize(instance.cluster.machines());
  for (std::size_t p = 0; p < state_->jobs.size(); ++p) {
    for (const MachineId m : state_->jobs[p].machines) state_->on[m.index()].push_back(p);
  }
}

PlannedStarts::~PlannedStarts() = default;

std::optional<PlannedStart> PlannedStarts::of(JobId id) const {
  const TimedJob* const job = state_->find(id);
  if (job == nullptr) return std::nullopt;
  const model::WorkloadView& workload = state_->instance.workload;
  PlannedStart result{.job = id, .start = job->start, .end = {}, .machines = job->machines};
  if (job->end != model::kNever) result.end = job->end;
  result.begins = job->start <= state_->now;
  if (result.begins) return result;
  result.not_before = workload.time_of(workload.job(id)).not_before == job->start;
  for (const model::Dependency& dependency : workload.dependencies_of(id)) {
    const TimedJob* const earlier = state_->find(dependency.after);
    if (earlier != nullptr && earlier->end == job->start) result.after.push_back(earlier->job);
  }
  result.leave = state_->leaving(*job);
  result.open = state_->opening(*job);
  return result;
}

}  // namespace berth::explain
