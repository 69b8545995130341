// SPDX-License-Identifier: Apache-2.0
#include "berth/model/quota_limits.hpp"

#include <algorithm>

namespace berth::model {

QuotaLimits::QuotaLimits(const Instance& instance, Objective objective) {
  const auto& queues = instance.cluster.queues;
  for (std::size_t q = 0; q < queues.size(); ++q) {
    std::vector<std::uint32_t> chain;
    const Queue& queue = queues[q];
    const bool felt = queue.hard() || (queue.gpu_quota >= 0 && traits(objective).costs);
    if (felt) {
      chain.push_back(static_cast<std::uint32_t>(limits_.size()));
      limits_.push_back({QueueId(q), kGpuMilli * queue.gpu_quota, queue.over_quota_penalty});
    }
    if (queue.parent.valid()) {  // an earlier queue
      const auto& above = chain_[queue.parent.index()];
      chain.insert(chain.end(), above.begin(), above.end());
    }
    chain_.push_back(std::move(chain));
  }
  if (limits_.empty()) return;
  for (const Running& running : instance.workload.running) {
    if (!running.pinned) continue;
    const Job& job = instance.workload.job(running.job);
    for (const std::uint32_t l : of(job.queue)) {
      limits_[l].milli -= instance.workload.gpu_milli(job);
    }
  }
  for (QuotaLimit& limit : limits_) limit.milli = std::max<std::int64_t>(0, limit.milli);
}

std::span<const std::uint32_t> QuotaLimits::of(QueueId queue) const {
  if (!queue.valid()) return {};
  return chain_[queue.index()];
}

std::vector<double> QuotaLimits::by_queue(std::span<const double> prices) const {
  if (empty()) return {};
  std::vector<double> sums;
  for (const auto& chain : chain_) {
    double sum = 0.0;
    for (const std::uint32_t l : chain) sum += prices[l];
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace berth::model
