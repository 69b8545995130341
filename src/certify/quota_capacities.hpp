// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/certify/job_facts.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// Capacity of the quotas less pinned jobs, in GPU thousandths. Jobs of a queue count for its
/// ancestors too. Under allocate soft quotas are ignored.
class QuotaCapacities {
 public:
  QuotaCapacities(const model::InstanceView& instance, model::Objective objective);

  /// Empty: no quota.
  [[nodiscard]] const std::optional<std::int64_t>& room(QueueId q) const {
    return room_[q.index()];
  }
  /// By QueueId: GPU thousandths of the placed jobs.
  [[nodiscard]] std::vector<std::int64_t> usage(const model::Placement& placement) const;
  /// False when the job alone exceeds a hard quota.
  [[nodiscard]] bool allow(const model::Job& job) const;

  /// Value lost by exceeding soft quotas, rounded up. @param used  by QueueId, as of `usage`
  [[nodiscard]] Int128 penalty(std::span<const std::int64_t> used, int scale_log2) const;
  /// True when the penalty is an integer for every plan. @param facts  of all planned jobs
  [[nodiscard]] bool integral(const JobFacts& facts) const;
  /// Reports one fault for every exceeded hard quota. @param used  by QueueId, as of `usage`
  void report(std::span<const std::int64_t> used, Findings& findings) const;

 private:
  void add(std::vector<std::int64_t>& usage, const model::Job& job) const;
  [[nodiscard]] bool soft(std::size_t q) const;

  model::InstanceView instance_;
  std::vector<std::optional<std::int64_t>> room_;  ///< by QueueId
  bool pinned_whole_ = true;                       ///< each pinned job takes whole GPUs
};

/// Prices of quotas: a job pays for its queue, the queue's ancestors and, where whole jobs are
/// chosen, the GPUs of the cluster.
class QuotaPrices {
 public:
  QuotaPrices(const model::InstanceView& instance, const model::Certificate& certificate);

  [[nodiscard]] Int128 of(const model::Job& job) const;
  /// Per GPU thousandth of the queue itself, without its ancestors.
  [[nodiscard]] Int128 own(QueueId q) const { return own_.empty() ? 0 : own_[q.index()]; }
  /// Sum over queues of room x price. @pre priced queues have a quota
  [[nodiscard]] Int128 capacity_value(const QuotaCapacities& quotas) const;

 private:
  model::WorkloadView workload_;
  Int128 of_cluster_ = 0;    ///< per GPU thousandth
  std::vector<Int128> own_;  ///< by QueueId; empty when there are no prices
  std::vector<Int128> sum_;  ///< by QueueId: sum over the queue and its ancestors
};

}  // namespace berth::certify
