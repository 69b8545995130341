// SPDX-License-Identifier: Apache-2.0
#include "horizon_costs.hpp"

#include <algorithm>
#include <cmath>

namespace berth::pipeline {

using horizon::CostPiece;
using horizon::Seconds;
using model::Horizon;
using model::InstanceView;
using model::Job;
using model::TimeRules;

Seconds scaled(Seconds seconds, double speed) {
  constexpr double kLongest = 0x1p45;
  return static_cast<Seconds>(
      std::clamp(std::ceil(static_cast<double>(seconds) / speed), 1.0, kLongest));
}

std::optional<Seconds> duration_on(const InstanceView& instance, const Horizon& horizon,
                                   const Job& job, GpuTypeId type,
                                   const model::Configuration* elastic) {
  const TimeRules& rules = instance.workload.time_of(job);
  if (rules.duration == model::kNotGiven) {
    return rules.limit != model::kNotGiven ? rules.limit : horizon.length;
  }
  double speed = type.valid() ? instance.workload.speed(job, type) : 1.0;
  if (elastic != nullptr) speed *= elastic->speed;
  if (speed <= 0.0) return std::nullopt;
  const Seconds seconds = scaled(rules.duration, speed);
  const bool cut = rules.limit != model::kNotGiven && seconds > rules.limit;
  return cut ? std::nullopt : std::optional(seconds);
}

std::vector<CostPiece> costs_of(const InstanceView& instance, const Horizon& horizon,
                                const Job& job, double value, Seconds duration, Seconds release) {
  const TimeRules& rules = instance.workload.time_of(job);
  if (horizon.objective == model::HorizonObjective::makespan) {
    return {{.after = release, .cost = 0.0, .slope = 1.0}};
  }
  if (horizon.objective == model::HorizonObjective::flow) {
    return {{.after = release,
             .cost = job.weight * static_cast<double>(release - job.arrival),
             .slope = job.weight}};
  }
  const model::Utility& utility = instance.workload.tables().utilities[rules.utility];
  const bool has_end = rules.seconds() != model::kNotGiven;
  const Seconds last = utility.points.empty() && has_end
                           ? std::min(horizon.end(), horizon.end() - 1 + duration)
                           : horizon.end() - 1 + duration;
  std::vector<CostPiece> pieces;
  const auto add = [&](Seconds after, double factor, double slope) {
    if (after < last) pieces.push_back({.after = after, .cost = -value * factor, .slope = slope});
  };
  const auto& points = utility.points;
  const double first = points.empty() ? 1.0 : points.front().factor;
  if (points.empty() || job.arrival + points.front().seconds > release) add(release, first, 0.0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    double slope = 0.0;
    if (!utility.steps && i + 1 < points.size()) {
      const auto span = static_cast<double>(points[i + 1].seconds - points[i].seconds);
      slope = std::max(0.0, value * (points[i].factor - points[i + 1].factor) / span);
    }
    add(job.arrival + points[i].seconds, points[i].factor, slope);
  }
  if (pieces.empty()) return {{.after = release, .cost = 0.0, .slope = 0.0}};
  pieces.push_back({.after = last, .cost = 0.0, .slope = 0.0});
  return pieces;
}

std::int64_t running_until(const InstanceView& instance, const Horizon& horizon, const Job& job) {
  const model::Running& running = *instance.workload.running_of(job);
  if (running.remaining != model::kNotGiven) {
    return running.remaining > 0 ? horizon.now + running.remaining : horizon.end();
  }
  GpuTypeId type;
  for (const model::TaskPlacement& task : instance.workload.tasks_of(running)) {
    if (task.devices != 0) type = instance.cluster.class_of(task.machine).gpu_type;
  }
  const TimeRules& rules = instance.workload.time_of(job);
  if (rules.seconds() == model::kNotGiven) return horizon.end();
  Seconds seconds = rules.limit;
  if (rules.duration != model::kNotGiven) {
    const double speed = type.valid() ? instance.workload.speed(job, type) : 1.0;
    if (speed <= 0.0) return horizon.end();
    seconds = scaled(rules.duration, speed);
  }
  const Seconds end = seconds + (running.since == model::kNotGiven ? horizon.now : running.since);
  return end > horizon.now ? end : horizon.end();
}

}  // namespace berth::pipeline
