// SPDX-License-Identifier: Apache-2.0
#include "horizon_moves.hpp"

#include "horizon_costs.hpp"

#include <algorithm>

namespace berth::pipeline {

using horizon::Seconds;
using model::Horizon;
using model::InstanceView;
using model::Job;

bool must_move(const InstanceView& instance, const Horizon& horizon, JobId id) {
  const Job& job = instance.workload.job(id);
  const auto& drains = instance.cluster.drain_deadlines;
  if (job.running < 0 || drains.empty()) return false;
  const model::Running& running = *instance.workload.running_of(job);
  if (running.pinned) return false;
  const Seconds until = running_until(instance, horizon, job);
  return std::ranges::any_of(
      instance.workload.tasks_of(running), [&](const model::TaskPlacement& task) {
        const auto found =
            std::ranges::lower_bound(drains, task.machine, {}, &model::DrainDeadline::machine);
        return found != drains.end() && found->machine == task.machine && found->deadline < until;
      });
}

bool is_planned(const InstanceView& instance, const Horizon& horizon, JobId job) {
  return instance.workload.job(job).running < 0 || must_move(instance, horizon, job);
}

namespace {

/// Seconds of work since the last checkpoint, where the job runs; none when its end is not known.
Seconds lost_by_move(const Horizon& horizon, const model::TimeRules& rules,
                     const model::Running& running, Seconds whole, Seconds left) {
  const bool overdue = running.remaining != model::kNotGiven ? running.remaining <= 0
                       : running.since != model::kNotGiven   ? running.since + whole <= horizon.now
                                                             : false;
  if (rules.seconds() == model::kNotGiven || overdue) return 0;
  const Seconds done = std::max<Seconds>(0, whole - left);
  return rules.checkpoint_every == model::kNotGiven ? done : done % rules.checkpoint_every;
}

}  // namespace

std::optional<Seconds> seconds_after_move(const InstanceView& instance, const Horizon& horizon,
                                          const Job& job, GpuTypeId type) {
  const model::TimeRules& rules = instance.workload.time_of(job);
  const model::Running& running = *instance.workload.running_of(job);
  const bool timed = rules.duration != model::kNotGiven;
  GpuTypeId from;
  for (const model::TaskPlacement& task : instance.workload.tasks_of(running)) {
    if (task.devices != 0) from = instance.cluster.class_of(task.machine).gpu_type;
  }
  const auto speed_on = [&](GpuTypeId on) {
    return timed && on.valid() ? instance.workload.speed(job, on) : 1.0;
  };
  const double speed = speed_on(type);
  if (speed <= 0.0) return std::nullopt;
  const double before = speed_on(from) > 0.0 ? speed_on(from) : 1.0;
  const Seconds whole = timed ? scaled(rules.duration, before) : rules.limit;
  const Seconds left = running_until(instance, horizon, job) - horizon.now;
  const Seconds work = left + lost_by_move(horizon, rules, running, whole, left);
  const Seconds seconds = scaled(work, speed / before) + rules.restart_cost;
  const bool cut = timed && rules.limit != model::kNotGiven && seconds > rules.limit;
  return cut ? std::nullopt : std::optional(seconds);
}

double cost_of_move(const InstanceView& instance, const Job& job) {
  const model::Running& running = *instance.workload.running_of(job);
  return running.move_cost - running.stop_cost;
}

}  // namespace berth::pipeline
