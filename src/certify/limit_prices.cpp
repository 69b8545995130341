// SPDX-License-Identifier: Apache-2.0
#include "limit_prices.hpp"

#include "exact.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify {
namespace {

using model::LimitKind;
using model::LimitScope;
using model::Queue;

/// True when exactly one part of the scope is valid, and it is in the cluster and may have such
/// limits.
bool is_known(const model::Cluster& cluster, LimitKind kind, const LimitScope& scope) {
  const int valid =
      (scope.queue.valid() ? 1 : 0) + (scope.rack.valid() ? 1 : 0) + (scope.pod.valid() ? 1 : 0);
  if (valid != 1 || (scope.gpu_type.valid() && kind != LimitKind::spare)) return false;
  if (kind == LimitKind::spare) return cluster.spare_of(scope.pod, scope.gpu_type) != nullptr;
  const bool of_domains = row_of(kind).of_rack != nullptr;
  if (scope.queue.valid()) return !of_domains && scope.queue.index() < cluster.queues.size();
  return of_domains && (scope.rack.valid() ? scope.rack.index() < cluster.racks.size()
                                           : scope.pod.index() < cluster.pods.size());
}

/// Why the prices of quotas cannot be used; all at once, because nested quotas may be listed in any
/// order.
std::string unusable_quotas(const model::InstanceView& instance, model::Objective objective,
                            const model::Certificate& certificate) {
  const auto& queues = instance.cluster.queues;
  std::vector<Int128> price(queues.size(), 0);
  for (const auto& l : certificate.limits) {
    if (l.kind == LimitKind::gpu_quota) price[l.scope.queue.index()] += l.price;
  }
  for (std::size_t q = 0; q < queues.size(); ++q) {
    if (price[q] == 0 || queues[q].hard()) continue;
    const bool none = queues[q].gpu_quota < 0 || !model::traits(objective).costs;
    if (none) return "queue " + queues[q].name + " has a price, but no quota under this objective";
    if (price[q] * model::kGpuMilli >
        fixed_down(queues[q].over_quota_penalty, certificate.scale_log2)) {
      return "price of queue " + queues[q].name + " is above its over_quota_penalty";
    }
  }
  return {};
}

/// Why a price of spare GPUs cannot be used.
std::string unusable_spare(const model::Cluster& cluster, model::Objective objective,
                           const model::Certificate& certificate,
                           const model::Certificate::LimitPrice& l) {
  const std::string what = describe(cluster, l.kind, l.scope);
  if (l.price > 0 && !model::traits(objective).costs) {
    return what + " has a price, but no penalty under this objective";
  }
  const double penalty = cluster.spare_of(l.scope.pod, l.scope.gpu_type)->penalty;
  if (Int128{l.price} * model::kGpuMilli > fixed_down(penalty, certificate.scale_log2)) {
    return "price of " + what + " is above its penalty";
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> limit_of(const model::Cluster& cluster, LimitKind kind,
                                     const LimitScope& scope) {
  const model::LimitRow& row = row_of(kind);
  const double given = scope.rack.valid() ? cluster.racks[scope.rack.index()].*row.of_rack
                                          : cluster.pods[scope.pod.index()].*row.of_pod;
  const double amount = std::floor(given * row.units);
  if (!(amount < 0x1p62)) return std::nullopt;
  return static_cast<std::int64_t>(std::max(0.0, amount));
}

std::string describe(const model::Cluster& cluster, LimitKind kind, const LimitScope& scope) {
  return std::string(row_of(kind).key) + " of " + std::string(scope.key()) + " " +
         std::string(scope.name(cluster)) +
         (scope.gpu_type.valid() ? ", type " + cluster.gpu_types[scope.gpu_type.index()] : "");
}

std::string unusable_limits(const model::InstanceView& instance, model::Objective objective,
                            const model::Certificate& certificate) {
  const model::Cluster& cluster = instance.cluster;
  for (const auto& l : certificate.limits) {
    if (!is_known(cluster, l.kind, l.scope)) {
      return "a price is for a " + std::string(row_of(l.kind).key) + " that does not exist";
    }
    const std::string what = describe(cluster, l.kind, l.scope);
    if (l.price < 0) return "price of " + what + " is negative";
    if (l.kind == LimitKind::spare) {
      if (std::string why = unusable_spare(cluster, objective, certificate, l); !why.empty())
        return why;
      continue;
    }
    const bool of_domain = !l.scope.queue.valid();
    if (of_domain && l.price > 0 && !limit_of(cluster, l.kind, l.scope)) {
      return what + " has a price, but there is no such limit";
    }
  }
  return unusable_quotas(instance, objective, certificate);
}

}  // namespace berth::certify
