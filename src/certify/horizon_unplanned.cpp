// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "berth/certify/horizon_plan.hpp"
#include "berth/model/resources.hpp"

namespace berth::certify {
namespace {

bool has_uplinks(const model::Cluster& cluster) {
  const auto finite = [](const auto& domain) { return std::isfinite(domain.uplink_gbps); };
  return std::ranges::any_of(cluster.racks, finite) || std::ranges::any_of(cluster.pods, finite);
}

bool has_power_budgets(const model::Cluster& cluster) {
  const auto finite = [](const auto& domain) { return std::isfinite(domain.power_w); };
  return std::ranges::any_of(cluster.racks, finite) || std::ranges::any_of(cluster.pods, finite);
}

/// Limits that jobs on different machines share, and that plans in time do not count.
struct SharedLimits {
  bool uplinks;
  bool power;
};

std::string unplanned_key_of(const model::WorkloadView& workload, const model::Job& job,
                             const SharedLimits& limits) {
  for (const model::TaskGroup& group : workload.groups_of(job)) {
    const model::Shape& shape = workload.shape(group.shape);
    if (limits.power && shape.needs[model::kPower] > 0) return "power_w";
  }
  const bool communicates = job.communication.pattern != model::CommunicationPattern::none;
  if (limits.uplinks && communicates) return "communication";
  return {};
}

}  // namespace

UnplannedKey unplanned_key(const model::InstanceView& instance) {
  if (!instance.cluster.spare.empty()) return {.job = {}, .key = "spare"};
  const SharedLimits limits{.uplinks = has_uplinks(instance.cluster),
                            .power = has_power_budgets(instance.cluster)};
  const model::WorkloadView& workload = instance.workload;
  for (std::size_t j = 0; j < workload.size(); ++j) {
    const JobId id(j);
    const model::Job& job = workload.job(id);
    if (workload.pinned(job)) continue;
    std::string key = unplanned_key_of(workload, job, limits);
    if (!key.empty()) return {.job = id, .key = std::move(key)};
  }
  return {};
}

}  // namespace berth::certify
