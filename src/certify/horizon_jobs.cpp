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

std::optional<std::int64_t> run_seconds(const InstanceView& instance, const Horizon& horizon,
                                        const Job& job, GpuTypeId type, Run run) {
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
    return utility_costs(instance, horizon, job, value, seconds, release);
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
  GpuTypeId type;
  for (const model::TaskPlacement& task : instance.workload.tasks_of(running)) {
    if (task.devices != 0) type = instance.cluster.class_of(task.machine).gpu_type;
  }
  const model::TimeRules& rules = instance.workload.time_of(job);
  if (rules.seconds() == model::kNotGiven) return horizon.end();
  const std::int64_t since = running.since == model::kNotGiven ? horizon.now : running.since;
  std::int64_t seconds = rules.limit;
  if (rules.duration != model::kNotGiven) {
    const double speed = speed_on(instance, job, type);
    if (!(speed > 0.0)) return horizon.end();
    seconds = at_speed(rules.duration, speed);
  }
  const std::int64_t end = since + seconds;
  return end > horizon.now ? end : horizon.end();
}

}  // namespace berth::certify
