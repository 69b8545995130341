// SPDX-License-Identifier: Apache-2.0
#include "horizon_place_limits.hpp"

#include "horizon_costs.hpp"
#include "horizon_moves.hpp"

#include <cmath>
#include <map>
#include <utility>

namespace berth::pipeline {

using horizon::Seconds;
using model::LimitKind;

HorizonPlaceLimits::HorizonPlaceLimits(const model::InstanceView& instance,
                                       const model::Horizon& horizon,
                                       horizon::ProblemBuilder& builder)
    : instance_(instance), limits_(instance, model::Objective::value), id_(limits_.size(), -1) {
  if (!limits_.of_places()) return;
  std::vector<std::int64_t> first;
  for (std::size_t l = 0; l < limits_.size(); ++l) first.push_back(capacity_of(limits_[l]));
  std::vector<std::map<Seconds, std::int64_t>> changes(limits_.size());
  for (const model::Running& running : instance.workload.tables().running) {
    if (must_move(instance, horizon, running.job)) continue;
    const Seconds until = running_until(instance, horizon, instance.workload.job(running.job));
    const auto tasks = instance.workload.tasks_of(running);
    for (const auto& [limit, amount] : limits_.use_of_places(running.job, tasks)) {
      changes[limit][horizon.now] -= amount;
      changes[limit][until] += amount;
    }
  }
  for (const model::Immovable& content : instance.cluster.immovable) {
    if (content.job.valid()) continue;
    model::for_each_limited_resource([&](LimitKind kind, std::size_t resource) {
      if (!limits_.has(kind)) return;
      const RackId rack = instance.cluster.machine_rack[content.machine.index()];
      const std::int64_t taken = content.taken[resource];
      changes[limits_.at(kind, rack)][horizon.now] -= taken;
      changes[limits_.at(kind, instance.cluster.racks[rack.index()].pod)][horizon.now] -= taken;
    });
  }
  for (std::size_t l = limits_.of_queues(); l < limits_.size(); ++l) {
    if (first[l] == model::kNoLimit) continue;
    // running jobs and other content close the GPUs of their machines
    if (limits_[l].kind == LimitKind::spare) changes[l].clear();
    id_[l] = builder.add_place_limit(horizon::steps_from(horizon.now, first[l], changes[l]));
  }
}

/// Without what running jobs and other content use.
std::int64_t HorizonPlaceLimits::capacity_of(const planner_model::CouplingLimit& limit) const {
  const model::LimitScope& scope = limit.scope;
  const model::Cluster& cluster = instance_.cluster;
  if (limit.kind == LimitKind::spare) {
    return -model::kGpuMilli * cluster.spare_of(scope.pod, scope.gpu_type)->gpus;
  }
  const model::LimitRow& row = model::row_of(limit.kind);
  if (!scope.rack.valid() && !scope.pod.valid()) return model::kNoLimit;
  const double most = scope.rack.valid() ? cluster.racks[scope.rack.index()].*row.of_rack
                                         : cluster.pods[scope.pod.index()].*row.of_pod;
  return std::isinf(most) ? model::kNoLimit
                          : static_cast<std::int64_t>(std::floor(most * row.units));
}

horizon::PlaceLimitIds HorizonPlaceLimits::of(MachineId machine) const {
  horizon::PlaceLimitIds ids;
  const model::Cluster& cluster = instance_.cluster;
  const RackId rack = cluster.machine_rack[machine.index()];
  const PodId pod = cluster.pod_of(machine);
  if (limits_.has(LimitKind::power)) {
    ids.rack_power = id_[limits_.at(LimitKind::power, rack)];
    ids.pod_power = id_[limits_.at(LimitKind::power, pod)];
  }
  if (limits_.has(LimitKind::uplink)) {
    ids.rack_uplink = id_[limits_.at(LimitKind::uplink, rack)];
    ids.pod_uplink = id_[limits_.at(LimitKind::uplink, pod)];
  }
  const model::Spare* spare = cluster.spare_of(pod, cluster.class_of(machine).gpu_type);
  if (spare != nullptr && limits_.has(LimitKind::spare)) {
    ids.spare = id_[limits_.first_spare() + static_cast<std::size_t>(spare - cluster.spare.data())];
  }
  return ids;
}

std::optional<horizon::Traffic> HorizonPlaceLimits::traffic_of(const model::Job& job) const {
  const model::Communication& communication = job.communication;
  if (!limits_.has(LimitKind::uplink)) return std::nullopt;
  if (communication.pattern == model::CommunicationPattern::none) return std::nullopt;
  const bool servers = communication.pattern == model::CommunicationPattern::ps;
  return horizon::Traffic{
      .mbps = communication.mbps,
      .servers = servers ? static_cast<std::int32_t>(communication.servers) : -1};
}

}  // namespace berth::pipeline
