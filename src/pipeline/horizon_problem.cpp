// SPDX-License-Identifier: Apache-2.0
#include "horizon_problem.hpp"

#include "horizon_costs.hpp"
#include "horizon_machines.hpp"
#include "horizon_moves.hpp"
#include "horizon_place_limits.hpp"
#include "horizon_rules.hpp"

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

class Translation {
 public:
  Translation(const InstanceView& instance, const Horizon& horizon)
      : instance_(instance),
        horizon_(horizon),
        values_(instance, model::Objective::value),
        builder_(horizon.now),
        limits_(instance_, horizon_, builder_),
        machines_(instance_, horizon_, limits_, builder_, result_) {}

  HorizonProblem run() {
    machines_.add();
    builder_.add_neighbours(neighbours_of(instance_.workload.tables().rules));
    add_quotas();
    add_licenses();
    for (const JobId job : model::planned_jobs(instance_.workload)) {
      if (planned(job)) largest_ = std::max(largest_, values_.best(job));
    }
    for (const JobId job : model::planned_jobs(instance_.workload)) {
      if (planned(job)) add_job(job);
    }
    add_dependencies();
    result_.problem = builder_.build();
    return std::move(result_);
  }

 private:
  [[nodiscard]] Seconds until_of(JobId job) const {
    return running_until(instance_, horizon_, instance_.workload.job(job));
  }

  /// What running jobs leave of each quota over time.
  void add_quotas() {
    const model::Cluster& cluster = instance_.cluster;
    std::vector<std::map<Seconds, horizon::Gpus>> changes(cluster.queues.size());
    for (const model::Running& running : instance_.workload.tables().running) {
      if (planned(running.job)) continue;
      const Job& job = instance_.workload.job(running.job);
      const std::int64_t milli = instance_.workload.gpu_milli(job);
      for (QueueId q = job.queue; q.valid(); q = cluster.queues[q.index()].parent) {
        changes[q.index()][horizon_.now] -= milli;
        changes[q.index()][until_of(running.job)] += milli;
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
      auto steps = horizon::steps_from(horizon_.now, model::kGpuMilli * cluster.queues[q].gpu_quota,
                                       changes[q]);
      quota_of_queue_.back() = builder_.add_quota(std::move(steps));
    }
  }

  /// What running jobs leave of each license over time.
  void add_licenses() {
    const auto& licenses = instance_.cluster.licenses;
    std::vector<std::map<Seconds, std::int64_t>> changes(licenses.size());
    for (const model::Running& running : instance_.workload.tables().running) {
      if (planned(running.job)) continue;
      const Job& job = instance_.workload.job(running.job);
      for (const model::LicenseUse& use : instance_.workload.rules_of(job).licenses) {
        changes[use.license][horizon_.now] -= use.count;
        changes[use.license][until_of(running.job)] += use.count;
      }
    }
    for (std::size_t l = 0; l < licenses.size(); ++l) {
      (void)builder_.add_license(horizon::steps_from(horizon_.now, licenses[l].count, changes[l]));
    }
  }

  /// By row of Cluster::licenses.
  [[nodiscard]] static std::vector<horizon::LicenseUse> licenses_of(
      const model::PlacementRules& rules) {
    std::vector<horizon::LicenseUse> uses;
    for (const model::LicenseUse& use : rules.licenses) {
      uses.push_back({.license = static_cast<std::int32_t>(use.license), .count = use.count});
    }
    return uses;
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

  /// Of jobs that are planned both; running ones that stay end when they end (release_of).
  void add_dependencies() {
    const auto position = [&](JobId job) {
      const auto found = std::ranges::lower_bound(result_.jobs, job);
      return JobId(static_cast<std::size_t>(found - result_.jobs.begin()));
    };
    for (const model::Dependency& pair : instance_.workload.tables().dependencies) {
      if (runs(pair.job) || !planned(pair.after)) continue;
      builder_.add_dependency(position(pair.job), position(pair.after));
    }
  }

  [[nodiscard]] bool runs(JobId job) const { return instance_.workload.job(job).running >= 0; }
  [[nodiscard]] bool planned(JobId job) const { return is_planned(instance_, horizon_, job); }

  [[nodiscard]] Seconds release_of(JobId id) const {
    if (runs(id)) return horizon_.now;
    const TimeRules& rules = instance_.workload.time_of(instance_.workload.job(id));
    Seconds release = std::max(horizon_.now, rules.not_before);
    for (const model::Dependency& pair : instance_.workload.dependencies_of(id)) {
      if (!planned(pair.after)) release = std::max(release, until_of(pair.after));
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
                           runs(id) ? horizon::kNever : std::min(rules.deadline, horizon::kNever));
    if (instance_.workload.gpu_milli(job) == 0) {
      const std::vector<PoolId> pools =
          pools_of(id, [&](GpuTypeId type) { return allowed(job, type); });
      if (!pools.empty()) add_options(id, {}, release, pools);
      return;
    }
    for (const GpuTypeId type : result_.types) {
      if (((job.gpu_types >> type.index()) & 1) == 0) continue;
      add_options(id, type, release, pools_of(id, [&](GpuTypeId t) { return t == type; }));
    }
  }

  /// The pools of such types that the job may use; those of reservations last.
  template <class Types>
  std::vector<PoolId> pools_of(JobId id, const Types& of_type) const {
    std::vector<PoolId> pools;
    for (const HorizonMachines::Pool& one : machines_.pools()) {
      const bool open = one.reserved == nullptr || may_use(instance_, id, *one.reserved);
      if (open && of_type(one.type)) pools.push_back(one.pool);
    }
    return pools;
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
    if (elastic.empty() || runs(id)) {
      add_option(id, type, release, pools, nullptr);
      return;
    }
    for (const model::Configuration& one : elastic) add_option(id, type, release, pools, &one);
  }

  void add_option(JobId id, GpuTypeId type, Seconds release, std::span<const PoolId> pools,
                  const model::Configuration* elastic) {
    const Job& job = instance_.workload.job(id);
    const auto duration = runs(id) ? seconds_after_move(instance_, horizon_, job, type)
                                   : duration_on(instance_, horizon_, job, type, elastic);
    if (!duration) return;
    const auto tasks = tasks_of(job, elastic);
    const model::PlacementRules& rules = instance_.workload.rules_of(job);
    std::int64_t count = 0;
    for (const horizon::TaskGroup& group : tasks) count += group.tasks;
    if (!can_spread(rules, count)) return;
    const double value = std::max({value_of(id, type, elastic), kLeastValue * largest_, 1e-12});
    auto pieces = costs_of(instance_, horizon_, job, value, *duration, release);
    if (runs(id) && !model::minimised(horizon_.objective)) {
      for (CostPiece& piece : pieces) piece.cost += cost_of_move(instance_, job);
    }
    builder_.add_option(pool_set(pools), *duration, tasks, builder_.add_cost(pieces));
    if (spreads(rules)) {
      builder_.spread_option({.most = rules.max_tasks, .least = rules.min_domains});
    }
    if (!rules.licenses.empty()) builder_.license_option(licenses_of(rules));
    if (const auto traffic = limits_.traffic_of(job)) builder_.connect_option(*traffic);
    const bool has_gpus = instance_.workload.gpu_milli(job) > 0;
    builder_.restrict_option(
        job.domain, has_gpus ? limits_of(job, quota_of_queue_) : std::vector<std::int32_t>());
    if (has_gpus) builder_.charge_option(limits_of(job, budget_of_queue_));
  }

  /// At the best place on the type, without costs of moves. A job with a duration has its speed in
  /// that.
  [[nodiscard]] double value_of(JobId id, GpuTypeId type,
                                const model::Configuration* elastic) const {
    const Job& job = instance_.workload.job(id);
    const bool timed = instance_.workload.time_of(job).duration != model::kNotGiven;
    const double speed = type.valid() ? instance_.workload.speed(job, type) : 1.0;
    if (elastic == nullptr || elastic->value < 0.0) {
      const double moves = runs(id) ? cost_of_move(instance_, job) : 0.0;
      const double value =
          values_.best(id, type) + moves;  // costs of moves are added to its pieces
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
      tasks.back().neighbours = static_cast<std::int32_t>(job.rules);
      if (count == 0) {
        tasks.back().gpus = 0;
        continue;
      }
      tasks.back().gpus = shape.gpus;
      tasks.back().milli = shape.gpu_milli;
      tasks.back().needs = shape.needs;
      std::int64_t& cpu = tasks.back().needs[model::kCpu];
      if (!shape.uses_gpu()) cpu = std::max<std::int64_t>(1, cpu);
    }
    return tasks;
  }

  horizon::PoolSetId pool_set(std::span<const PoolId> pools) {
    const std::vector<PoolId> key(pools.begin(), pools.end());
    const auto found = pool_sets_.find(key);
    if (found != pool_sets_.end()) return found->second;
    return pool_sets_[key] = builder_.add_pool_set(pools);
  }

  InstanceView instance_;
  Horizon horizon_;
  planner_model::Valuation values_;
  horizon::ProblemBuilder builder_;
  HorizonProblem result_;
  HorizonPlaceLimits limits_;
  HorizonMachines machines_;
  double largest_ = 0.0;                       ///< value of any waiting job
  std::vector<std::int32_t> quota_of_queue_;   ///< -1: none
  std::vector<std::int32_t> budget_of_queue_;  ///< of GPU-hours; -1: none
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

}  // namespace berth::pipeline
