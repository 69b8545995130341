// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/demand.hpp"

#include <algorithm>
#include <functional>

#include "berth/base/assert.hpp"

namespace berth::policy {
namespace {

/// True when the run on a GPU type is longer than the job's limit.
bool exceeds_limit(const model::TimeRules& rules, double speed) {
  if (rules.limit == model::kNotGiven || rules.duration == model::kNotGiven) return false;
  return static_cast<double>(rules.duration) / speed > static_cast<double>(rules.limit);
}

void add_types(const model::InstanceView& instance, const model::Job& job, Demand& demand) {
  const model::TimeRules& rules = instance.workload.time_of(job);
  struct TypeSpeed {
    double speed;
    GpuTypeId type;
  };
  std::vector<TypeSpeed> allowed;
  for (std::size_t t = 0; t < instance.cluster.gpu_types.size(); ++t) {
    const GpuTypeId type(t);
    if (!model::lists(job, type)) continue;
    const double speed =
        rules.duration == model::kNotGiven ? 1.0 : instance.workload.speed(job, type);
    if (speed > 0.0 && !exceeds_limit(rules, speed)) allowed.push_back({speed, type});
  }
  std::ranges::stable_sort(allowed, std::greater<>{}, &TypeSpeed::speed);
  if (!demand.uses_gpus() && job.gpu_types == ~std::uint64_t{0}) {
    allowed.insert(allowed.begin(), {1.0, GpuTypeId()});
  }
  for (const auto& [speed, type] : allowed) {
    demand.types.push_back(type);
    demand.speeds.push_back(speed);
  }
}

}  // namespace

std::int64_t Demand::tasks() const {
  std::int64_t tasks = 0;
  for (const DemandGroup& group : groups) tasks += group.count;
  return tasks;
}

const model::Shape& Demand::shape_of(const model::TaskPlacement& task) const {
  const auto at = std::ranges::find(groups, task.group, &DemandGroup::group);
  BERTH_EXPECT(at != groups.end());
  return at->shape;
}

double Demand::speed_on(GpuTypeId type) const {
  const auto at = std::ranges::find(types, type);
  BERTH_EXPECT(at != types.end());
  return speeds[static_cast<std::size_t>(at - types.begin())];
}

Demand demand_of(const model::InstanceView& instance, const model::Job& job) {
  Demand demand;
  demand.domain = job.domain;
  if (model::concern_machines(instance.workload.rules_of(job))) demand.rules = job.rules;
  std::uint32_t index = 0;
  for (const model::TaskGroup& group : instance.workload.groups_of(job)) {
    const model::Shape& shape = instance.workload.shape(group.shape);
    demand.groups.push_back({.group = index++, .count = group.count, .shape = shape});
    demand.milli += group.count * shape.total_milli();
  }
  std::ranges::stable_sort(demand.groups, std::greater<>{},
                           [](const DemandGroup& group) { return group.shape.total_milli(); });
  add_types(instance, job, demand);
  return demand;
}

Demand demand_of(const model::InstanceView& instance, const model::Job& job,
                 const model::Configuration& configuration) {
  Demand demand = demand_of(instance, job);
  demand.milli = 0;
  for (DemandGroup& group : demand.groups) {
    group.count = configuration.counts[group.group];
    demand.milli += group.count * group.shape.total_milli();
  }
  std::erase_if(demand.groups, [](const DemandGroup& group) { return group.count == 0; });
  for (double& speed : demand.speeds) speed *= configuration.speed;
  return demand;
}

}  // namespace berth::policy
