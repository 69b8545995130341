// SPDX-License-Identifier: Apache-2.0
#include "quota_capacities.hpp"

#include "exact.hpp"
#include "job_value.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace berth::certify {

using model::Job;
using model::Queue;

QuotaCapacities::QuotaCapacities(const model::InstanceView& instance, model::Objective objective)
    : instance_(instance), room_(instance.cluster.queues.size()) {
  if (room_.empty()) return;
  std::vector<std::int64_t> pinned(room_.size(), 0);
  for (const model::Running& running : instance.workload.tables().running) {
    if (!running.pinned) continue;
    const Job& job = instance.workload.job(running.job);
    add(pinned, job);
    pinned_whole_ = pinned_whole_ && milli_of(instance.workload, job) % model::kGpuMilli == 0;
  }
  for (std::size_t q = 0; q < room_.size(); ++q) {
    const Queue& queue = instance.cluster.queues[q];
    if (queue.gpu_quota < 0) continue;
    if (!queue.hard() && !model::traits(objective).costs) continue;
    room_[q] = std::max<std::int64_t>(0, model::kGpuMilli * queue.gpu_quota - pinned[q]);
  }
}

void QuotaCapacities::add(std::vector<std::int64_t>& usage, const Job& job) const {
  const std::int64_t milli = milli_of(instance_.workload, job);
  for (QueueId q = job.queue; q.valid(); q = instance_.cluster.queues[q.index()].parent) {
    usage[q.index()] += milli;
  }
}

std::vector<std::int64_t> QuotaCapacities::usage(const model::Placement& placement) const {
  std::vector<std::int64_t> usage(room_.size(), 0);
  if (room_.empty()) return usage;
  for (const model::JobPlacement& p : placement) {
    add(usage, instance_.workload.job(p.job));
  }
  return usage;
}

bool QuotaCapacities::soft(std::size_t q) const {
  return room_[q] && !instance_.cluster.queues[q].hard();
}

bool QuotaCapacities::allow(const Job& job) const {
  if (!job.queue.valid()) return true;
  const std::int64_t milli = milli_of(instance_.workload, job);
  for (QueueId q = job.queue; q.valid(); q = instance_.cluster.queues[q.index()].parent) {
    if (room_[q.index()] && !soft(q.index()) && milli > *room_[q.index()]) return false;
  }
  return true;
}

Int128 QuotaCapacities::penalty(std::span<const std::int64_t> used, int scale_log2) const {
  Int128 total = 0;
  for (std::size_t q = 0; q < room_.size(); ++q) {
    if (!soft(q) || used[q] <= *room_[q]) continue;
    const double penalty = instance_.cluster.queues[q].over_quota_penalty;
    total += times_over_up(fixed_up(penalty, scale_log2), used[q] - *room_[q], model::kGpuMilli);
  }
  return total;
}

bool QuotaCapacities::integral(const JobFacts& facts) const {
  bool any = false, whole = true;
  for (std::size_t q = 0; q < room_.size(); ++q) {
    if (!soft(q)) continue;
    any = true;
    const double penalty = instance_.cluster.queues[q].over_quota_penalty;
    whole = whole && penalty == std::floor(penalty) && *room_[q] % model::kGpuMilli == 0;
  }
  return !any || (whole && pinned_whole_ && facts.totals.broken == 0);
}

void QuotaCapacities::report(std::span<const std::int64_t> used, Findings& findings) const {
  for (std::size_t q = 0; q < room_.size(); ++q) {
    if (!room_[q] || soft(q) || used[q] <= *room_[q]) continue;
    findings.add(FaultKind::quota_exceeded, "queue " + instance_.cluster.queues[q].name +
                                                ": jobs take " + std::to_string(used[q]) + " of " +
                                                std::to_string(*room_[q]) +
                                                " GPU thousandths beside the pinned ones");
  }
}

QuotaPrices::QuotaPrices(const model::InstanceView& instance, const model::Certificate& certificate)
    : workload_(instance.workload) {
  if (certificate.whole_jobs.in_cluster()) of_cluster_ = certificate.whole_jobs.gpu_milli;
  for (const auto& l : certificate.limits) {
    if (l.kind != model::LimitKind::gpu_quota) continue;
    own_.resize(instance.cluster.queues.size(), 0);
    own_[l.scope.queue.index()] += l.price;
  }
  sum_ = own_;
  for (std::size_t q = 0; q < sum_.size(); ++q) {  // parents come earlier
    const QueueId parent = instance.cluster.queues[q].parent;
    if (parent.valid()) sum_[q] += sum_[parent.index()];
  }
}

Int128 QuotaPrices::of(const Job& job) const {
  Int128 price = of_cluster_;
  if (!sum_.empty() && job.queue.valid()) price += sum_[job.queue.index()];
  return price == 0 ? 0 : price * milli_of(workload_, job);
}

Int128 QuotaPrices::capacity_value(const QuotaCapacities& quotas) const {
  Int128 total = 0;
  for (std::size_t q = 0; q < own_.size(); ++q) {
    if (own_[q] > 0) total += own_[q] * quotas.room(QueueId(q)).value();
  }
  return total;
}

}  // namespace berth::certify
