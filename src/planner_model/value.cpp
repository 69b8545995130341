// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/value.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "berth/planner_model/gpu_types.hpp"
#include "berth/planner_model/home.hpp"

namespace berth::planner_model {
namespace {

/// GPU type of the machines with the job's GPU tasks.
GpuTypeId type_of(const model::InstanceView& instance, const model::JobPlacement& placement) {
  GpuTypeId type;
  for (const model::TaskPlacement& t : placement.tasks) {
    if (t.devices != 0) type = instance.cluster.class_of(t.machine).gpu_type;
  }
  return type;
}

}  // namespace

SharedPrices::SharedPrices(const LimitGroups& groups, std::span<const double> prices)
    : queues_(groups.limits().by_queue(prices)) {
  const auto of_groups = prices.subspan(groups.limits().of_queues());
  if (std::ranges::none_of(of_groups, [](double price) { return price > 0.0; })) return;
  groups_ = &groups;
  by_group_.assign(of_groups.begin(), of_groups.end());
}

double SharedPrices::operator()(const model::InstanceView& instance, JobId id, GpuTypeId type,
                                model::Level width) const {
  const model::Job& job = instance.workload.job(id);
  double sum = 0.0;
  if (!queues_.empty() && job.queue.valid()) {
    sum +=
        queues_[job.queue.index()] * static_cast<double>(instance.workload.gpu_milli(job)) / 1000.0;
  }
  if (groups_ == nullptr) return sum;
  for (const LimitGroups::GroupLoad& load : groups_->group_loads(id, type, width)) {
    if (load.group != LimitGroups::kNone) sum += by_group_[load.group] * load.amount;
  }
  return sum;
}

double Valuation::unpriced_option(JobId id, GpuTypeId type, model::Level width,
                                  model::Level distance) const {
  const model::WorkloadView& workload = instance_.workload;
  const model::Job& job = workload.job(id);
  const model::ObjectiveTraits& counts = traits(objective_);
  double value = counts.base(workload, job) * workload.tables().weight_of(job.priority);
  if (counts.factors) {
    value *= (type.valid() ? workload.speed(job, type) : 1.0);
    value *= workload.tables().factors[job.home_factor][static_cast<std::size_t>(distance)];
    value *= workload.tables().factors[job.width_factor][static_cast<std::size_t>(width)];
  }
  const model::Running* running = counts.costs ? workload.running_of(job) : nullptr;
  return running == nullptr ? value : value - running->move_cost + running->stop_cost;
}

double Valuation::option(JobId id, GpuTypeId type, model::Level width,
                         model::Level distance) const {
  return unpriced_option(id, type, width, distance) - prices_(instance_, id, type, width);
}

double Valuation::best(JobId id) const {
  const model::Job& job = instance_.workload.job(id);
  if (instance_.workload.gpu_milli(job) == 0) return best(id, GpuTypeId{});
  double value = 0.0;
  for (const GpuTypeId type : GpuTypes(job, instance_.cluster.gpu_types.size())) {
    value = std::max(value, best(id, type));
  }
  return value;
}

double Valuation::stop_costs() const {
  if (!traits(objective_).costs) return 0.0;
  double total = 0.0;
  for (const model::Running& r : instance_.workload.tables().running)
    total += r.pinned ? 0.0 : r.stop_cost;
  return total;
}

double Valuation::placed(const model::JobPlacement& placement) const {
  if (prices_.empty()) return unpriced_value(placement);
  return unpriced_value(placement) - prices_(instance_, placement.job,
                                             type_of(instance_, placement),
                                             width(instance_.cluster, placement.tasks));
}

double Valuation::unpriced_value(const model::JobPlacement& placement) const {
  const Extent e = extent(instance_, placement);
  const GpuTypeId type = type_of(instance_, placement);
  const double value = unpriced_option(placement.job, type, e.width, e.distance);
  const model::WorkloadView& workload = instance_.workload;
  const model::Running* running = workload.running_of(workload.job(placement.job));
  if (!traits(objective_).costs || running == nullptr) return value;
  return stays(workload, *running, placement) ? value + running->move_cost : value;
}

bool Valuation::pays_for_moves(JobId id) const {
  const model::Running* running = instance_.workload.running_of(instance_.workload.job(id));
  return running != nullptr && traits(objective_).costs && running->move_cost > 0.0;
}

bool Valuation::place_independent(JobId id) const {
  const model::Job& job = instance_.workload.job(id);
  const bool single = instance_.workload.tasks(job) == 1;
  if (!single && job.domain < model::Level::cluster) return false;
  const model::PlacementRules& rules = instance_.workload.rules_of(job);
  if (rules.exclusive ||
      model::narrowest_width(rules, instance_.workload.tasks(job)) > model::Level::machine) {
    return false;
  }
  if (!single && prices_.of_places() &&
      job.communication.pattern == model::CommunicationPattern::ring) {
    return false;
  }
  if (!traits(objective_).factors) return true;
  const auto flat = [&](std::uint32_t row) {
    const model::Factors& f = instance_.workload.tables().factors[row];
    return std::ranges::all_of(f, [&](double x) { return x == f.front(); });
  };
  return (!has_home(job) || flat(job.home_factor)) && (single || flat(job.width_factor));
}

model::JobPlacement current_placement(const model::WorkloadView& workload,
                                      const model::Running& running) {
  const auto tasks = workload.tasks_of(running);
  return {.job = running.job, .start = 0, .tasks = {tasks.begin(), tasks.end()}};
}

bool may_stay(const model::Cluster& cluster, const model::JobPlacement& present) {
  return std::ranges::all_of(present.tasks, [&](const model::TaskPlacement& t) {
    return cluster.state_of(t.machine) == model::MachineState::up;
  });
}

bool stays(const model::WorkloadView& workload, const model::Running& running,
           const model::JobPlacement& placement) {
  const auto now = workload.tasks_of(running);
  const auto key = [](const model::TaskPlacement& t) {
    return std::tie(t.group, t.machine, t.devices);
  };
  if (std::ranges::equal(now, placement.tasks, {}, key, key)) return true;
  std::vector<model::TaskPlacement> tasks = placement.tasks;
  std::ranges::sort(tasks, {}, key);
  return std::ranges::equal(now, tasks, {}, key, key);
}

Extent extent(const model::InstanceView& instance, const model::JobPlacement& placement) {
  const model::Cluster& cluster = instance.cluster;
  const model::Job& job = instance.workload.job(placement.job);
  Extent e{.width = width(cluster, placement.tasks)};
  for (const model::TaskPlacement& t : placement.tasks) {
    e.distance = std::max(
        e.distance, distance_from_home(cluster, job, cluster.machine_rack[t.machine.index()]));
  }
  return e;
}

}  // namespace berth::planner_model
