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

/// What the quotas leave to a plan: GPU thousandths beside the pinned jobs. A queue's jobs count
/// for the queues it lies in, too. Under allocate a soft quota is none.
class QuotaCapacities {
 public:
  QuotaCapacities(const model::Instance& instance, model::Objective objective);

  /// Empty: no quota.
  [[nodiscard]] const std::optional<std::int64_t>& room(QueueId q) const {
    return room_[q.index()];
  }
  /// By QueueId: thousandths of the jobs placed.
  [[nodiscard]] std::vector<std::int64_t> usage(const model::Placement& placement) const;
  /// False when the job alone passes a quota that may not be passed.
  [[nodiscard]] bool allow(const model::Job& job) const;

  /// Value lost by passing soft quotas, rounded up. @param used  by QueueId, as of `usage`
  [[nodiscard]] Int128 penalty(std::span<const std::int64_t> used, int scale_log2) const;
  /// True when that is a whole number for every plan. @param facts  of all planned jobs
  [[nodiscard]] bool integral(const JobFacts& facts) const;

  /// One fault for every quota that is passed and may not be. @param used  by QueueId, as of
  /// `usage`
  void report(std::span<const std::int64_t> used, Findings& findings) const;

 private:
  void add(std::vector<std::int64_t>& usage, const model::Job& job) const;
  [[nodiscard]] bool soft(std::size_t q) const;

  const model::Instance* instance_;
  std::vector<std::optional<std::int64_t>> room_;  ///< by QueueId
  bool pinned_whole_ = true;                       ///< each pinned job takes whole GPUs
};

/// Prices of quotas. What a job pays for its queue and the queues that lies in.
class QuotaPrices {
 public:
  QuotaPrices(const model::Instance& instance, const model::Certificate& certificate);

  [[nodiscard]] Int128 of(const model::Job& job) const;
  /// Sum over queues of room x price: what the quotas are worth. @pre priced queues have a quota
  [[nodiscard]] Int128 capacity_value(const QuotaCapacities& quotas) const;

 private:
  const model::Workload* workload_;
  std::vector<Int128> own_;  ///< by QueueId; empty when there are no prices
  std::vector<Int128> sum_;  ///< with the queues it lies in
};

}  // namespace berth::certify
