// SPDX-License-Identifier: Apache-2.0
#include "berth/model/limit_usage.hpp"

#include <algorithm>
#include <cmath>

namespace berth::model {

std::int64_t CouplingLimits::capacity(std::size_t limit) const {
  if (limit < quota_count()) return quotas->limits()[limit].milli;
  return links->mbps(static_cast<std::uint32_t>(limit - quota_count()));
}

double CouplingLimits::penalty(std::size_t limit) const {
  return limit < quota_count() ? quotas->limits()[limit].penalty
                               : std::numeric_limits<double>::infinity();
}

LimitUsage::LimitUsage(const Instance& instance, const CouplingLimits* limits)
    : instance_(&instance), limits_(limits == nullptr || limits->empty() ? nullptr : limits) {
  if (limits_ == nullptr) return;
  use_.assign(limits_->size(), 0);
  allowance_.assign(limits_->size(), kNoLimit);
}

std::span<const std::uint32_t> LimitUsage::quotas_of(JobId job) const {
  if (limits_ == nullptr) return {};
  return limits_->quotas->of(instance_->workload.job(job).queue);
}

std::vector<std::pair<std::size_t, std::int64_t>> LimitUsage::amounts(
    const JobPlacement& placed) const {
  std::vector<std::pair<std::size_t, std::int64_t>> found;
  if (limits_ == nullptr) return found;
  const std::int64_t milli = instance_->workload.gpu_milli(instance_->workload.job(placed.job));
  for (const std::uint32_t l : quotas_of(placed.job)) {
    if (milli > 0) found.emplace_back(l, milli);
  }
  if (!limits_->links->unconstrained()) {
    for (const LinkLoad& load : limits_->links->load(placed.job, placed.tasks)) {
      found.emplace_back(limits_->quota_count() + load.link, load.mbps);
    }
  }
  std::ranges::sort(found);
  return found;
}

std::int64_t LimitUsage::amount(std::size_t limit, const JobPlacement& placed) const {
  std::int64_t sum = 0;
  for (const auto& [l, amount] : amounts(placed)) sum += l == limit ? amount : 0;
  return sum;
}

void LimitUsage::count(const JobPlacement& placed, int sign) {
  for (const auto& [l, amount] : amounts(placed)) use_[l] += sign * amount;
}

double LimitUsage::rate(std::size_t quota) const {
  const double charged = limits_->charged.empty() ? 0.0 : limits_->charged[quota];
  return std::max(0.0, limits_->penalty(quota) - charged);
}

std::optional<double> LimitUsage::surcharge(JobId id) const {
  const std::int64_t milli = instance_->workload.gpu_milli(instance_->workload.job(id));
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
  double lost = 0.0;
  for (std::size_t l = 0; limits_ != nullptr && l < limits_->quota_count(); ++l) {
    if (left(l) >= 0 || std::isinf(limits_->penalty(l))) continue;
    lost -= rate(l) * static_cast<double>(left(l)) / 1000.0;
  }
  return lost;
}

bool LimitUsage::carries(const JobPlacement& placed) const {
  if (limits_ == nullptr || limits_->links->unconstrained()) return true;
  return std::ranges::all_of(limits_->links->load(placed.job, placed.tasks), [&](const auto& load) {
    return left(limits_->quota_count() + load.link) >= load.mbps;
  });
}

bool LimitUsage::may_cross(JobId id, MachineId machine, Level width) const {
  if (limits_ == nullptr || limits_->links->unconstrained() || width <= Level::rack) return true;
  const Communication& communication = instance_->workload.job(id).communication;
  if (communication.pattern != CommunicationPattern::ring) return true;
  const Cluster& cluster = instance_->cluster;
  const RackId rack = cluster.machine_rack[machine.index()];
  if (left(limits_->quota_count() + rack.index()) < communication.mbps) return false;
  const std::size_t pod = cluster.racks.size() + cluster.pod_of(machine).index();
  return width == Level::pod || left(limits_->quota_count() + pod) >= communication.mbps;
}

}  // namespace berth::model
