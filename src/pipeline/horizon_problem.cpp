// SPDX-License-Identifier: Apache-2.0
#include "horizon_problem.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "berth/horizon/problem_builder.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::pipeline {
namespace {

using horizon::CostPiece;
using horizon::Seconds;
using model::Horizon;
using model::InstanceView;
using model::Job;
using model::TimeRules;

/// Value of a job without value, as a fraction of the largest value.
constexpr double kLeastValue = 1e-9;
constexpr std::int64_t kHour = 3600;  ///< seconds

Seconds scaled(Seconds seconds, double speed) {
  constexpr double kLongest = 0x1p45;
  return static_cast<Seconds>(
      std::clamp(std::ceil(static_cast<double>(seconds) / speed), 1.0, kLongest));
}

/// Seconds of a run; empty when the job cannot run on the type.
/// @param elastic  its configuration, or null
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

/// Costs by completion when the job is worth `value`.
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

class Translation {
 public:
  Translation(const InstanceView& instance, const Horizon& horizon)
      : instance_(instance),
        horizon_(horizon),
        values_(instance, model::Objective::value),
        builder_(horizon.now) {}

  HorizonProblem run() {
    add_pools();
    for (const std::vector<const model::Window*>& group : reservations()) add_reserved(group);
    close_machines();
    add_quotas();
    for (const JobId job : model::planned_jobs(instance_.workload)) {
      const Job& record = instance_.workload.job(job);
      if (record.running < 0) largest_ = std::max(largest_, values_.best(job));
    }
    for (const JobId job : model::planned_jobs(instance_.workload)) {
      if (instance_.workload.job(job).running < 0) add_job(job);
    }
    add_dependencies();
    result_.problem = builder_.build();
    return std::move(result_);
  }

 private:
  void add_pools() {
    const model::Cluster& cluster = instance_.cluster;
    std::map<GpuTypeId, std::vector<MachineId>> by_type;
    std::vector<MachineId> without;
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      const model::MachineClass& of = cluster.class_of(MachineId(m));
      (of.gpus > 0 ? by_type[of.gpu_type] : without).push_back(MachineId(m));
    }
    position_.assign(cluster.machines(), {});
    for (const auto& [type, machines] : by_type) {
      add_pool(horizon::CurveId(result_.types.size()), type, machines);
      result_.types.push_back(type);
    }
    if (!without.empty()) add_pool(horizon::CurveId(0), {}, without);
  }

  void add_pool(horizon::CurveId curve, GpuTypeId type, std::span<const MachineId> machines) {
    pools_.emplace_back(builder_.add_pool(curve, 0, 0), type);
    for (const MachineId m : machines) position_[m.index()] = add_machine(m);
  }

  MachineId add_machine(MachineId m) {
    const model::MachineClass& of = instance_.cluster.class_of(m);
    result_.machines.push_back(m);
    return builder_.add_machine({.pool = {},
                                 .gpus = of.gpus,
                                 .capacity = of.capacity,
                                 .rack = instance_.cluster.machine_rack[m.index()],
                                 .pod = instance_.cluster.pod_of(m)});
  }

  /// Reservations that some waiting job may use, those for the same jobs and queues together.
  [[nodiscard]] std::vector<std::vector<const model::Window*>> reservations() const {
    std::map<std::pair<std::vector<QueueId>, std::vector<JobId>>, std::vector<const model::Window*>>
        groups;
    for (const model::Window& window : instance_.cluster.windows) {
      if (window.kind != model::WindowKind::reservation || window.to <= horizon_.now) continue;
      groups[{window.queues, window.job_ids}].push_back(&window);
    }
    std::vector<std::vector<const model::Window*>> used;
    const std::vector<JobId> jobs = model::planned_jobs(instance_.workload);
    for (auto& [whom, windows] : groups) {
      const bool some = std::ranges::any_of(
          jobs, [&](JobId job) { return !runs(job) && may_use(instance_, job, *windows.front()); });
      if (some) used.push_back(std::move(windows));
    }
    return used;
  }

  /// The reserved machines once more, as pools of their own: open only while they are reserved,
  /// when the machines of the other pools are closed. A job runs in a reservation or outside it.
  void add_reserved(const std::vector<const model::Window*>& windows) {
    std::map<GpuTypeId, std::map<MachineId, std::vector<const model::Window*>>> by_type;
    for (const model::Window* window : windows) {
      for (const model::MachineRange& range : window->machines) {
        for (auto m = range.first; m < range.end; ++m) {
          const model::MachineClass& of = instance_.cluster.class_of(MachineId(m));
          by_type[of.gpus > 0 ? of.gpu_type : GpuTypeId{}][MachineId(m)].push_back(window);
        }
      }
    }
    for (const auto& [type, machines] : by_type) {
      const auto curve = std::ranges::find(result_.types, type) - result_.types.begin();
      const horizon::CurveId of_type(type.valid() ? static_cast<std::size_t>(curve) : 0);
      reserved_.push_back({builder_.add_pool(of_type, 0, 0), type, windows.front()});
      for (const auto& [machine, open] : machines) add_reserved_machine(machine, open);
    }
  }

  void add_reserved_machine(MachineId machine, const std::vector<const model::Window*>& open) {
    const MachineId twin = add_machine(machine);
    twins_[machine].push_back({twin, open});
    std::vector<std::pair<Seconds, Seconds>> spans;
    for (const model::Window* window : open) spans.emplace_back(window->from, window->to);
    std::ranges::sort(spans);
    Seconds closed_from = horizon_.now;
    for (const auto& [from, to] : spans) {
      close_one(twin, machine, closed_from, from);
      closed_from = std::max(closed_from, to);
    }
    close_one(twin, machine, closed_from, horizon::kNever);
  }

  void close_one(MachineId position, MachineId machine, Seconds from, Seconds to) {
    from = std::max(from, horizon_.now);
    if (from >= to) return;
    model::Resources all = instance_.cluster.class_of(machine).capacity;
    for (std::size_t r = 0; r < model::kResources; ++r) {
      if (all[r] == model::kNoLimit) all[r] = 0;
    }
    builder_.add_outage(position, from, to, ~0ULL, all);
  }

  /// @param window  that closes the machine, or null; its own reserved machines stay open
  void close(MachineId machine, Seconds from, Seconds to, const model::Window* window) {
    close_one(position_[machine.index()], machine, from, to);
    const auto twins = twins_.find(machine);
    if (twins == twins_.end()) return;
    for (const Twin& twin : twins->second) {
      if (std::ranges::find(twin.open, window) == twin.open.end()) {
        close_one(twin.position, machine, from, to);
      }
    }
  }

  /// What is on the machine until then.
  void occupy(MachineId machine, Seconds to, std::uint64_t devices, const model::Resources& taken) {
    builder_.add_outage(position_[machine.index()], horizon_.now, to, devices, taken);
    const auto twins = twins_.find(machine);
    if (twins == twins_.end()) return;
    for (const Twin& twin : twins->second) {
      builder_.add_outage(twin.position, horizon_.now, to, devices, taken);
    }
  }

  void close_machines() {
    const model::Cluster& cluster = instance_.cluster;
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      const bool up = cluster.state_of(MachineId(m)) == model::MachineState::up;
      if (!up) close(MachineId(m), horizon_.now, horizon::kNever, nullptr);
    }
    for (const model::Immovable& content : cluster.immovable) {
      const Seconds until = content.job.valid() ? until_of(content.job) : horizon::kNever;
      occupy(content.machine, until, content.devices, content.taken);
    }
    for (const model::Running& running : instance_.workload.tables().running) {
      if (running.pinned) continue;
      const auto groups = instance_.workload.groups_of(instance_.workload.job(running.job));
      for (const model::TaskPlacement& task : instance_.workload.tasks_of(running)) {
        occupy(task.machine, until_of(running.job), task.devices,
               instance_.workload.shape(groups[task.group].shape).needs);
      }
    }
    for (const model::Window& window : cluster.windows) {
      for (const model::MachineRange& range : window.machines) {
        for (auto m = range.first; m < range.end; ++m) {
          close(MachineId(m), window.from, window.to, &window);
        }
      }
    }
  }

  [[nodiscard]] Seconds until_of(JobId job) const {
    return running_until(instance_, horizon_, instance_.workload.job(job));
  }

  /// What running jobs leave of each quota over time.
  void add_quotas() {
    const model::Cluster& cluster = instance_.cluster;
    std::vector<std::map<Seconds, horizon::Gpus>> changes(cluster.queues.size());
    for (const model::Running& running : instance_.workload.tables().running) {
      const Job& job = instance_.workload.job(running.job);
      // shares count upwards: a quota is never exceeded
      const horizon::Gpus gpus = (instance_.workload.gpu_milli(job) + 999) / 1000;
      for (QueueId q = job.queue; q.valid(); q = cluster.queues[q.index()].parent) {
        changes[q.index()][horizon_.now] -= gpus;
        changes[q.index()][until_of(running.job)] += gpus;
      }
    }
    for (std::size_t q = 0; q < cluster.queues.size(); ++q) {
      quota_of_queue_.push_back(-1);
      budget_of_queue_.push_back(-1);
      if (cluster.queues[q].gpu_hours >= 0) {
        budget_of_queue_.back() =
            builder_.add_budget(kHour * cluster.queues[q].gpu_hours, horizon_.end());
      }
      if (cluster.queues[q].gpu_quota < 0) continue;
      std::vector<horizon::CapacityStep> steps{
          {.from = horizon_.now, .gpus = cluster.queues[q].gpu_quota}};
      for (const auto& [from, change] : changes[q]) {
        const horizon::Gpus gpus = steps.back().gpus + change;
        if (from > steps.back().from) steps.push_back({.from = from, .gpus = gpus});
        steps.back().gpus = gpus;
      }
      quota_of_queue_.back() = builder_.add_quota(std::move(steps));
    }
  }

  /// @param of_queue  quotas or budgets
  [[nodiscard]] std::vector<std::int32_t> limits_of(
      const Job& job, const std::vector<std::int32_t>& of_queue) const {
    std::vector<std::int32_t> limits;
    QueueId queue = job.queue;
    for (; queue.valid(); queue = instance_.cluster.queues[queue.index()].parent) {
      if (of_queue[queue.index()] >= 0) limits.push_back(of_queue[queue.index()]);
    }
    return limits;
  }

  /// Of jobs that wait both; running ones end when they end (release_of).
  void add_dependencies() {
    const auto position = [&](JobId job) {
      const auto found = std::ranges::lower_bound(result_.jobs, job);
      return JobId(static_cast<std::size_t>(found - result_.jobs.begin()));
    };
    for (const model::Dependency& pair : instance_.workload.tables().dependencies) {
      if (runs(pair.job) || runs(pair.after)) continue;
      builder_.add_dependency(position(pair.job), position(pair.after));
    }
  }

  [[nodiscard]] bool runs(JobId job) const { return instance_.workload.job(job).running >= 0; }

  [[nodiscard]] Seconds release_of(JobId id) const {
    const TimeRules& rules = instance_.workload.time_of(instance_.workload.job(id));
    Seconds release = std::max(horizon_.now, rules.not_before);
    for (const model::Dependency& pair : instance_.workload.dependencies_of(id)) {
      if (runs(pair.after)) release = std::max(release, until_of(pair.after));
    }
    return release;
  }

  void add_job(JobId id) {
    const Job& job = instance_.workload.job(id);
    const TimeRules& rules = instance_.workload.time_of(job);
    const bool minimised = model::minimised(horizon_.objective);
    const Seconds release = release_of(id);
    result_.jobs.push_back(id);
    (void)builder_.add_job(release, job.required || minimised,
                           std::min(rules.deadline, horizon::kNever));
    if (instance_.workload.gpu_milli(job) > 0) {
      for (const auto& [pool, type] : pools_) {
        if (!type.valid() || ((job.gpu_types >> type.index()) & 1) == 0) continue;
        std::vector<PoolId> pools{pool};
        for (const ReservedPool& reserved : reserved_) {
          if (reserved.type == type && may_use(instance_, id, *reserved.whom))
            pools.push_back(reserved.pool);
        }
        add_options(id, type, release, pools);
      }
    } else {
      std::vector<PoolId> pools;
      for (const auto& [pool, type] : pools_) {
        if (allowed(job, type)) pools.push_back(pool);
      }
      for (const ReservedPool& reserved : reserved_) {
        if (allowed(job, reserved.type) && may_use(instance_, id, *reserved.whom)) {
          pools.push_back(reserved.pool);
        }
      }
      if (!pools.empty()) add_options(id, {}, release, pools);
    }
  }

  [[nodiscard]] bool allowed(const Job& job, GpuTypeId type) const {
    return std::ranges::all_of(instance_.workload.groups_of(job), [&](const auto& group) {
      return instance_.workload.allows(job, instance_.workload.shape(group.shape), type);
    });
  }

  /// One option for each configuration of an elastic job.
  void add_options(JobId id, GpuTypeId type, Seconds release, std::span<const PoolId> pools) {
    const TimeRules& rules = instance_.workload.time_of(instance_.workload.job(id));
    const auto& elastic = instance_.workload.tables().configurations[rules.configurations];
    if (elastic.empty()) add_option(id, type, release, pools, nullptr);
    for (const model::Configuration& one : elastic) add_option(id, type, release, pools, &one);
  }

  void add_option(JobId id, GpuTypeId type, Seconds release, std::span<const PoolId> pools,
                  const model::Configuration* elastic) {
    const Job& job = instance_.workload.job(id);
    const auto duration = duration_on(instance_, horizon_, job, type, elastic);
    if (!duration) return;
    const double value = std::max({value_of(id, type, elastic), kLeastValue * largest_, 1e-12});
    const auto pieces = costs_of(instance_, horizon_, job, value, *duration, release);
    builder_.add_option(pool_set(pools), *duration, tasks_of(job, elastic),
                        builder_.add_cost(pieces));
    const bool has_gpus = instance_.workload.gpu_milli(job) > 0;
    builder_.restrict_option(
        job.domain, has_gpus ? limits_of(job, quota_of_queue_) : std::vector<std::int32_t>());
    if (has_gpus) builder_.charge_option(limits_of(job, budget_of_queue_));
  }

  /// At the best place on the type. A job with a duration has its speed in that.
  [[nodiscard]] double value_of(JobId id, GpuTypeId type,
                                const model::Configuration* elastic) const {
    const Job& job = instance_.workload.job(id);
    const bool timed = instance_.workload.time_of(job).duration != model::kNotGiven;
    const double speed = type.valid() ? instance_.workload.speed(job, type) : 1.0;
    if (elastic == nullptr || elastic->value < 0.0) {
      const double value = values_.best(id, type);
      return timed && speed > 0.0 ? value / speed : value;
    }
    const auto& tables = instance_.workload.tables();
    const double factors =
        tables.factors[job.home_factor].front() * tables.factors[job.width_factor].front();
    return elastic->value * tables.weight_of(job.priority) * factors * (timed ? 1.0 : speed);
  }

  /// Tasks without GPUs take at least one CPU thousandth, so that closed machines are closed.
  [[nodiscard]] std::vector<horizon::TaskGroup> tasks_of(
      const Job& job, const model::Configuration* elastic) const {
    std::vector<horizon::TaskGroup> tasks;
    for (const model::TaskGroup& group : instance_.workload.groups_of(job)) {
      const model::Shape& shape = instance_.workload.shape(group.shape);
      const std::int32_t count = elastic == nullptr ? group.count : elastic->counts[tasks.size()];
      tasks.push_back({.tasks = count});
      if (count == 0) {
        tasks.back().gpus = 0;
        continue;
      }
      tasks.back().gpus = shape.gpus;
      tasks.back().needs = shape.needs;
      std::int64_t& cpu = tasks.back().needs[model::kCpu];
      if (shape.gpus == 0) cpu = std::max<std::int64_t>(1, cpu);
    }
    return tasks;
  }

  horizon::PoolSetId pool_set(std::span<const PoolId> pools) {
    const std::vector<PoolId> key(pools.begin(), pools.end());
    const auto found = pool_sets_.find(key);
    if (found != pool_sets_.end()) return found->second;
    return pool_sets_[key] = builder_.add_pool_set(pools);
  }

  struct ReservedPool {
    PoolId pool;
    GpuTypeId type;
    const model::Window* whom;  ///< its jobs and queues may use the pool
  };
  /// A reserved machine in its pool.
  struct Twin {
    MachineId position;
    std::vector<const model::Window*> open;  ///< reservations in which it is open
  };

  InstanceView instance_;
  Horizon horizon_;
  planner_model::Valuation values_;
  horizon::ProblemBuilder builder_;
  HorizonProblem result_;
  double largest_ = 0.0;                             ///< value of any waiting job
  std::vector<std::pair<PoolId, GpuTypeId>> pools_;  ///< no type: machines without GPUs
  std::vector<MachineId> position_;                  ///< by the cluster's machine
  std::vector<ReservedPool> reserved_;
  std::map<MachineId, std::vector<Twin>> twins_;  ///< by the cluster's machine
  std::vector<std::int32_t> quota_of_queue_;      ///< -1: none
  std::vector<std::int32_t> budget_of_queue_;     ///< of GPU-hours; -1: none
  std::map<std::vector<PoolId>, horizon::PoolSetId> pool_sets_;
};

}  // namespace

HorizonProblem horizon_problem(const InstanceView& instance, const Horizon& horizon) {
  return Translation(instance, horizon).run();
}

bool may_use(const InstanceView& instance, JobId job, const model::Window& reservation) {
  if (std::ranges::binary_search(reservation.job_ids, job)) return true;
  QueueId queue = instance.workload.job(job).queue;
  for (; queue.valid(); queue = instance.cluster.queues[queue.index()].parent) {
    if (std::ranges::binary_search(reservation.queues, queue)) return true;
  }
  return false;
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
