// SPDX-License-Identifier: Apache-2.0
#include "horizon_jobs.hpp"

#include <algorithm>
#include <cmath>

#include "berth/certify/horizon_plan.hpp"

namespace berth::certify {

using horizon::CostPiece;
using model::Horizon;
using model::InstanceView;
using model::Job;

namespace {

/// ceil(seconds / speed), at least 1.
std::int64_t at_speed(std::int64_t seconds, double speed) {
  constexpr double kLongest = 0x1p50;  // seconds; guards the conversion to an integer
  const double exact = std::ceil(static_cast<double>(seconds) / speed);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(exact, kLongest)));
}

double speed_on(const InstanceView& instance, const Job& job, GpuTypeId type) {
  return type.valid() ? instance.workload.tables().speed(job, type) : 1.0;
}

}  // namespace

std::vector<Run> runs_of(const model::WorkloadView& workload, const Job& job) {
  if (job.running >= 0) return {nullptr};
  std::vector<Run> runs;
  const auto row = workload.time_of(job).configurations;
  for (const model::Configuration& one : workload.tables().configurations[row]) {
    runs.push_back(&one);
  }
  if (runs.empty()) runs.push_back(nullptr);
  return runs;
}

Run run_of(const model::WorkloadView& workload, const model::JobPlacement& placed) {
  const Job& job = workload.job(placed.job);
  if (job.running >= 0) return nullptr;
  std::vector<std::int32_t> counts(workload.groups_of(job).size(), 0);
  for (const model::TaskPlacement& task : placed.tasks) ++counts[task.group];
  for (const Run run : runs_of(workload, job)) {
    if (run != nullptr && run->counts == counts) return run;
  }
  return nullptr;
}

std::int64_t milli_of_run(const model::WorkloadView& workload, const Job& job, Run run) {
  if (run == nullptr) return milli_of(workload, job);
  const auto groups = workload.groups_of(job);
  std::int64_t total = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const model::Shape& shape = workload.shape(groups[g].shape);
    total += std::int64_t{run->counts[g]} * (std::int64_t{1000} * shape.gpus + shape.gpu_milli);
  }
  return total;
}

namespace {

GpuTypeId type_now(const InstanceView& instance, const model::Running& running) {
  GpuTypeId type;
  for (const model::TaskPlacement& task : instance.workload.tasks_of(running)) {
    if (task.devices != 0) type = instance.cluster.class_of(task.machine).gpu_type;
  }
  return type;
}

/// Seconds of the whole run of a running job on its type; empty when nothing tells, or the speed
/// there is 0.
std::optional<std::int64_t> whole_run(const InstanceView& instance, const Job& job,
                                      const model::Running& running) {
  const model::TimeRules& rules = instance.workload.time_of(job);
  if (rules.seconds() == model::kNotGiven) return std::nullopt;
  if (rules.duration == model::kNotGiven) return rules.limit;
  const double speed = speed_on(instance, job, type_now(instance, running));
  if (!(speed > 0.0)) return std::nullopt;
  return at_speed(rules.duration, speed);
}

/// Of a job that may not stay.
std::optional<std::int64_t> seconds_elsewhere(const InstanceView& instance, const Horizon& horizon,
                                              const Job& job, GpuTypeId type) {
  const model::TimeRules& rules = instance.workload.time_of(job);
  const model::Running& running = *instance.workload.running_of(job);
  const auto whole = whole_run(instance, job, running);
  const std::int64_t left = end_of_running(instance, horizon, job) - horizon.now;
  std::int64_t work = left;  // in seconds where it runs
  const bool late = running.remaining != model::kNotGiven ? running.remaining <= 0
                    : whole && running.since != model::kNotGiven
                        ? running.since + *whole <= horizon.now
                        : false;
  if (whole && !late) {
    const std::int64_t done = std::max<std::int64_t>(0, *whole - left);
    work += rules.checkpoint_every == model::kNotGiven ? done : done % rules.checkpoint_every;
  }
  double faster = 1.0;
  if (rules.duration != model::kNotGiven) {
    const double here = speed_on(instance, job, type_now(instance, running));
    faster = speed_on(instance, job, type) / (here > 0.0 ? here : 1.0);
  }
  if (!(faster > 0.0)) return std::nullopt;
  const std::int64_t seconds = at_speed(work, faster) + rules.restart_cost;
  const bool limited = rules.duration != model::kNotGiven && rules.limit != model::kNotGiven;
  if (limited && seconds > rules.limit) return std::nullopt;
  return seconds;
}

}  // namespace

std::optional<std::int64_t> run_seconds(const InstanceView& instance, const Horizon& horizon,
                                        const Job& job, GpuTypeId type, Run run) {
  if (job.running >= 0) return seconds_elsewhere(instance, horizon, job, type);
  const model::TimeRules& rules = instance.workload.time_of(job);
  if (rules.duration == model::kNotGiven) {
    return rules.limit == model::kNotGiven ? horizon.length : rules.limit;
  }
  const double speed = speed_on(instance, job, type) * (run == nullptr ? 1.0 : run->speed);
  if (!(speed > 0.0)) return std::nullopt;
  const std::int64_t seconds = at_speed(rules.duration, speed);
  if (rules.limit != model::kNotGiven && seconds > rules.limit) return std::nullopt;
  return seconds;
}

double value_in_time(const InstanceView& instance, const Job& job, Run run,
                     const PlacementExtent& extent) {
  Job of_run = job;
  if (run != nullptr && run->value >= 0.0) of_run.value = run->value;
  const JobValue worth(instance, model::Objective::value, of_run);
  const bool timed = instance.workload.time_of(job).duration != model::kNotGiven;
  return worth.at(timed ? GpuTypeId{} : extent.type, extent.width, extent.distance);
}

std::int64_t release_of(const InstanceView& instance, const Horizon& horizon, const Job& job) {
  if (job.running >= 0) return horizon.now;
  return std::max(horizon.now, instance.workload.time_of(job).not_before);
}

namespace {

/// -value x utility by completion.
std::vector<CostPiece> utility_costs(const InstanceView& instance, const Horizon& horizon,
                                     const Job& job, double value, std::int64_t seconds,
                                     std::int64_t release) {
  const model::TimeRules& rules = instance.workload.time_of(job);
  const model::Utility& utility = instance.workload.tables().utilities[rules.utility];
  const bool open = rules.duration == model::kNotGiven && rules.limit == model::kNotGiven;
  // the job starts before the end of the horizon
  std::int64_t last = horizon.end() - 1 + seconds;
  if (utility.points.empty() && !open) last = std::min(last, horizon.end());
  std::vector<CostPiece> pieces;
  if (utility.points.empty()) {
    pieces.push_back({.after = release, .cost = -value, .slope = 0.0});
  }
  for (std::size_t i = 0; i < utility.points.size(); ++i) {
    const model::UtilityPoint& at = utility.points[i];
    const std::int64_t after = job.arrival + at.seconds;
    if (i == 0 && after > release) {
      pieces.push_back({.after = release, .cost = -value * at.factor, .slope = 0.0});
    }
    double slope = 0.0;
    if (!utility.steps && i + 1 < utility.points.size()) {
      const model::UtilityPoint& next = utility.points[i + 1];
      slope = value * (at.factor - next.factor) / static_cast<double>(next.seconds - at.seconds);
    }
    pieces.push_back({.after = after, .cost = -value * at.factor, .slope = std::max(0.0, slope)});
  }
  std::erase_if(pieces, [&](const CostPiece& piece) { return piece.after >= last; });
  if (pieces.empty()) {
    pieces.push_back({.after = release, .cost = 0.0, .slope = 0.0});
  } else {
    pieces.push_back({.after = last, .cost = 0.0, .slope = 0.0});
  }
  return pieces;
}

}  // namespace

std::vector<CostPiece> costs_in_time(const InstanceView& instance, const Horizon& horizon,
                                     const Job& job, double value, std::int64_t seconds,
                                     std::int64_t release) {
  if (horizon.objective == model::HorizonObjective::value) {
    auto pieces = utility_costs(instance, horizon, job, value, seconds, release);
    if (may_not_stay(instance, horizon, job)) {
      const model::Running& running = *instance.workload.running_of(job);
      for (CostPiece& piece : pieces) piece.cost += running.move_cost - running.stop_cost;
    }
    return pieces;
  }
  // a line through 0 at the arrival, from the release on
  const double first = job.weight * static_cast<double>(release - job.arrival);
  return {{.after = release, .cost = first, .slope = job.weight}};
}

std::int64_t end_of_running(const InstanceView& instance, const Horizon& horizon, const Job& job) {
  const model::Running& running = *instance.workload.running_of(job);
  if (running.remaining != model::kNotGiven) {
    return running.remaining > 0 ? horizon.now + running.remaining : horizon.end();
  }
  const auto seconds = whole_run(instance, job, running);
  if (!seconds) return horizon.end();
  const std::int64_t since = running.since == model::kNotGiven ? horizon.now : running.since;
  const std::int64_t end = since + *seconds;
  return end > horizon.now ? end : horizon.end();
}

bool may_not_stay(const InstanceView& instance, const Horizon& horizon, const Job& job) {
  if (job.running < 0) return false;
  const model::Running& running = *instance.workload.running_of(job);
  if (running.pinned) return false;
  const auto& drains = instance.cluster.drain_deadlines;
  if (drains.empty()) return false;
  const std::int64_t end = end_of_running(instance, horizon, job);
  for (const model::TaskPlacement& task : instance.workload.tasks_of(running)) {
    const auto drain =
        std::ranges::lower_bound(drains, task.machine, {}, &model::DrainDeadline::machine);
    if (drain == drains.end() || drain->machine != task.machine) continue;
    if (drain->deadline < end) return true;
  }
  return false;
}

bool is_decided(const InstanceView& instance, const Horizon& horizon, const Job& job) {
  return job.running < 0 || may_not_stay(instance, horizon, job);
}

}  // namespace berth::certify
