// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/policy_placement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "berth/base/error.hpp"
#include "berth/sim/outages.hpp"
#include "berth/sim/simulate.hpp"

namespace berth::sim {
namespace {

[[noreturn]] void refuse(const model::Instance& instance, JobId job, const char* field,
                         const std::string& problem, const std::string& hint) {
  throw InputError({.file = "", .line = 0, .field = field},
                   "job " + std::string(instance.workload.job_names[job.index()]) + " " + problem,
                   hint);
}

model::JobPlacement placement_of(JobId job, std::int64_t start,
                                 std::vector<model::TaskPlacement> tasks) {
  std::ranges::stable_sort(tasks, {}, &model::TaskPlacement::group);
  return {.job = job, .start = start, .tasks = std::move(tasks)};
}

/// Jobs of plans that the trace has, by arrival, then id.
std::vector<JobId> present_jobs(const model::Instance& instance, const Trace& trace) {
  std::vector<bool> out(trace.jobs.size());
  for (const RefusedJob& refused : trace.refused) out[refused.job.index()] = true;
  std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  std::erase_if(jobs, [&](JobId job) { return out[job.index()]; });
  std::ranges::stable_sort(jobs, {}, [&](JobId job) { return trace.jobs[job.index()].arrival; });
  return jobs;
}

/// GPUs of jobs that no plan moves count against quotas.
std::vector<policy::QueueQuota> quotas_left(const model::Instance& instance, const Trace& trace) {
  std::vector<policy::QueueQuota> quotas = trace.quotas;
  if (quotas.empty()) return quotas;
  for (const JobId id : model::pinned_jobs(instance.workload)) {
    const model::Job& job = instance.workload.job(id);
    for (QueueId q = job.queue; q.valid(); q = quotas[q.index()].parent) {
      std::int64_t& milli = quotas[q.index()].milli;
      if (milli >= 0) milli = std::max<std::int64_t>(0, milli - instance.workload.gpu_milli(job));
    }
  }
  return quotas;
}

GpuTypeId type_of(const model::Instance& instance, std::span<const model::TaskPlacement> tasks) {
  for (const model::TaskPlacement& task : tasks) {
    if (task.devices != 0) return instance.cluster.class_of(task.machine).gpu_type;
  }
  return {};
}

/// Puts the running jobs of `jobs` where they run and takes them out of the list: no arrival tells
/// the policy of them.
void place_running(const model::Instance& instance, policy::State& state,
                   std::vector<JobId>& jobs) {
  for (const model::Running& running : instance.workload.running) {
    if (running.pinned) continue;
    const auto tasks = instance.workload.tasks_of(running);
    if (std::erase(jobs, running.job) > 0) {
      state.arrive(running.job);
      if (state.start_on(running.job, type_of(instance, tasks), tasks)) continue;
    }
    refuse(instance, running.job, "running", "cannot be put where it runs",
           "plan without --policy, or without this job");
  }
  static_cast<void>(state.take_actions());
  state.end_decision();
}

}  // namespace

model::Instance at_one_moment(const model::Instance& instance, bool durations) {
  model::Instance moment = instance;
  moment.workload.dependencies.clear();
  std::int64_t last = 0;
  for (const model::Job& job : moment.workload.jobs) last = std::max(last, job.arrival);
  for (model::Job& job : moment.workload.jobs) job.arrival -= last;
  for (model::TimeRules& rules : moment.workload.time_rules) {
    rules.not_before = -last;  // 0 would be the arrival of all
    rules.configurations = 0;
    if (!durations && rules.seconds() == model::kNotGiven) rules.duration = 1;
  }
  return moment;
}

std::string unheeded_keys(const model::Instance& instance) {
  std::string keys;
  const auto add = [&](bool present, const char* key) {
    if (present) keys += (keys.empty() ? "" : ", ") + std::string(key);
  };
  const auto limited = [](const auto& place) { return std::isfinite(place.power_w); };
  add(std::ranges::any_of(instance.workload.jobs,
                          [](const model::Job& job) {
                            return job.communication.pattern != model::CommunicationPattern::none;
                          }),
      "communication");
  add(std::ranges::any_of(instance.cluster.racks, limited) ||
          std::ranges::any_of(instance.cluster.pods, limited),
      "power_w of racks and pods");
  return keys;
}

model::Placement decided_placement(const model::Instance& instance, const Trace& trace,
                                   policy::Policy& policy) {
  std::vector<policy::Job> jobs = trace.jobs;
  // A plan may stop and move all jobs but the pinned ones.
  for (policy::Job& job : jobs) job.preemptible = true;
  policy::State state(instance.cluster, trace.demands, jobs);
  if (!trace.quotas.empty()) state.set_quotas(quotas_left(instance, trace));
  state.set_rules(trace.rules);
  state.advance(-1);  // running jobs started before the decision
  std::vector<JobId> waiting = present_jobs(instance, trace);
  place_running(instance, state, waiting);
  for (const JobId job : waiting) state.arrive(job);
  state.advance(0);
  state.begin_decision();
  policy.decide(state);
  static_cast<void>(state.take_actions());
  std::vector<JobId> running(state.running().begin(), state.running().end());
  std::ranges::sort(running);
  model::Placement placement;
  for (const JobId job : running)
    placement.push_back(placement_of(job, 0, state.progress(job).tasks));
  return placement;
}

TimedPlacement simulated_placement(const model::Instance& instance, Trace trace,
                                   policy::Policy& policy, std::int64_t now) {
  const std::int64_t begin = now * kSecond;
  for (policy::Job& job : trace.jobs) job.arrival = std::max(job.arrival, begin);
  World world{.closings = closings(instance.cluster, {})};
  const auto uneven = [](const policy::Demand& demand) {
    return std::ranges::any_of(demand.speeds, [](double speed) { return speed != 1.0; });
  };
  if (std::ranges::any_of(trace.demands, uneven)) world.slot = kSecond;
  const Run run = simulate(instance.cluster, trace, policy, {}, world);
  TimedPlacement timed;
  for (const model::JobRecord& record : run.records) {
    if (record.runs.empty()) continue;
    if (record.runs.size() > 1) {
      refuse(instance, record.job, "windows",
             "is stopped by a window, and a plan in time has one run a job",
             "take a policy that looks at windows, or plan without --policy");
    }
    const model::JobRun only = record.runs.front();
    timed.placements.push_back(placement_of(record.job, only.start / kSecond, only.tasks));
    timed.ends.push_back((only.end + kSecond - 1) / kSecond);
  }
  return timed;
}

}  // namespace berth::sim
