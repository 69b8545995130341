// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/limit_usage.hpp"

#include <algorithm>
#include <cmath>

namespace berth::planner_model {

namespace {

/// Calls `visit(limit, resource)` for the limits on resources that tasks of the shape on the
/// machine use.
template <class Visit>
void for_each_use(const LimitUsage& usage, MachineId machine, const model::Shape& shape,
                  const Visit& visit) {
  const CouplingLimits& limits = *usage.limits();
  const model::Cluster& cluster = usage.cluster();
  model::for_each_limited_resource([&](model::LimitKind kind, std::size_t resource) {
    if (shape.needs[resource] == 0 || !limits.has(kind)) return;
    visit(limits.at(kind, cluster.machine_rack[machine.index()]), resource);
    visit(limits.at(kind, cluster.pod_of(machine)), resource);
  });
}

}  // namespace

LimitUsage::LimitUsage(const model::InstanceView& instance, const CouplingLimits* limits)
    : cluster_(&instance.cluster),
      workload_(instance.workload),
      limits_(limits == nullptr || limits->empty() ? nullptr : limits) {
  if (limits_ == nullptr) return;
  use_.assign(limits_->size(), 0);
  allowance_.assign(limits_->size(), model::kNoLimit);
  model::for_each_limited_resource([&](model::LimitKind kind, std::size_t) {
    limits_resources_ = limits_resources_ || limits_->has(kind);
  });
}

std::int64_t LimitUsage::count(MachineId machine, const model::Shape& shape, std::int64_t most,
                               const model::Resources& freed) const {
  if (!limits_resources_) return most;
  for_each_use(*this, machine, shape, [&](std::size_t limit, std::size_t resource) {
    if (left(limit) == model::kNoLimit) return;
    const std::int64_t amount = std::max<std::int64_t>(0, left(limit) + freed[resource]);
    most = std::min(most, amount / shape.needs[resource]);
  });
  return most;
}

std::span<const std::uint32_t> LimitUsage::quotas_of(JobId job) const {
  if (limits_ == nullptr) return {};
  return limits_->of(workload_.job(job).queue);
}

std::vector<LimitAmount> LimitUsage::amounts(const model::JobPlacement& placed) const {
  if (limits_ == nullptr) return {};
  std::vector<LimitAmount> found = limits_->use_of_places(placed.job, placed.tasks);
  const std::int64_t milli = workload_.gpu_milli(workload_.job(placed.job));
  for (const std::uint32_t l : quotas_of(placed.job)) {
    if (milli > 0) found.emplace_back(l, milli);
  }
  std::ranges::sort(found);
  return found;
}

std::int64_t LimitUsage::amount(std::size_t limit, const model::JobPlacement& placed) const {
  std::int64_t sum = 0;
  for (const auto& [l, amount] : amounts(placed)) sum += l == limit ? amount : 0;
  return sum;
}

void LimitUsage::count(const model::JobPlacement& placed, int sign) {
  for (const auto& [l, amount] : amounts(placed)) use_[l] += sign * amount;
}

double LimitUsage::rate(std::size_t limit) const {
  return std::max(0.0, limits_->penalty(limit) - limits_->charged(limit));
}

std::optional<double> LimitUsage::surcharge(JobId id) const {
  const std::int64_t milli = workload_.gpu_milli(workload_.job(id));
  double lost = 0.0;
  for (const std::uint32_t l : quotas_of(id)) {
    if (milli == 0 || left(l) >= milli) continue;
    const std::int64_t over = std::min(milli, milli - left(l));
    if (std::isinf(limits_->penalty(l))) return std::nullopt;
    lost += rate(l) * static_cast<double>(over) / 1000.0;
  }
  return lost;
}

double LimitUsage::surcharges() const {
  if (limits_ == nullptr) return 0.0;
  double lost = 0.0;
  const auto add = [&](std::size_t l) {
    if (left(l) >= 0 || !limits_->soft(l)) return;
    lost -= rate(l) * static_cast<double>(left(l)) / 1000.0;
  };
  for (std::size_t l = 0; l < limits_->of_queues(); ++l) add(l);
  for (std::size_t l = limits_->first_spare(); l < limits_->size(); ++l) add(l);
  return lost;
}

double LimitUsage::surcharge_of_place(const model::JobPlacement& placed) const {
  if (limits_ == nullptr || limits_->first_spare() == limits_->size()) return 0.0;
  double lost = 0.0;
  for (const auto& [l, amount] : limits_->use_of_places(placed.job, placed.tasks)) {
    if (!limits_->soft(l) || left(l) >= amount) continue;
    lost += rate(l) * static_cast<double>(std::min(amount, amount - left(l))) / 1000.0;
  }
  return lost;
}

bool LimitUsage::carries(const model::JobPlacement& placed) const {
  if (limits_ == nullptr || !limits_->of_places()) return true;
  return std::ranges::all_of(limits_->use_of_places(placed.job, placed.tasks),
                             [&](const LimitAmount& used) {
                               return left(used.first) >= used.second || limits_->soft(used.first);
                             });
}

bool LimitUsage::admits(JobId id, MachineId machine, model::Level width) const {
  constexpr model::LimitKind kUplink = model::LimitKind::uplink;
  if (limits_ == nullptr || !limits_->has(kUplink) || width <= model::Level::rack) return true;
  const model::Communication& communication = workload_.job(id).communication;
  if (communication.pattern != model::CommunicationPattern::ring) return true;
  const model::Cluster& cluster = *cluster_;
  const RackId rack = cluster.machine_rack[machine.index()];
  if (left(limits_->at(kUplink, rack)) < communication.mbps) return false;
  return width == model::Level::pod ||
         left(limits_->at(kUplink, cluster.pod_of(machine))) >= communication.mbps;
}

TaskAllowances::TaskAllowances(const LimitUsage* usage)
    : usage_(usage != nullptr && usage->limits_resources() ? usage : nullptr) {}

std::int64_t TaskAllowances::taken(std::size_t limit) const {
  const auto known = std::ranges::find(taken_, limit, &LimitAmount::first);
  return known == taken_.end() ? 0 : known->second;
}

bool TaskAllowances::allow(MachineId machine, const model::Shape& shape) const {
  if (usage_ == nullptr) return true;
  bool enough = true;
  for_each_use(*usage_, machine, shape, [&](std::size_t limit, std::size_t resource) {
    enough = enough && usage_->left(limit) - taken(limit) >= shape.needs[resource];
  });
  return enough;
}

void TaskAllowances::take(MachineId machine, const model::Shape& shape) {
  if (usage_ == nullptr) return;
  for_each_use(*usage_, machine, shape, [&](std::size_t limit, std::size_t resource) {
    const std::int64_t needs = shape.needs[resource];
    const auto known = std::ranges::find(taken_, limit, &LimitAmount::first);
    if (known == taken_.end()) {
      taken_.emplace_back(limit, needs);
    } else {
      known->second += needs;
    }
  });
}

}  // namespace berth::planner_model
