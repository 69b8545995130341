// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"

namespace berth::model {

/// A queue whose quota can be binding for a plan.
struct QuotaLimit {
  QueueId queue;
  std::int64_t milli = 0;  ///< GPU thousandths left beside the pinned jobs, >= 0
  double penalty = 0.0;    ///< value lost per GPU over; infinite: never over
};

/// The quotas of an instance and whose they are. The planner's view; the judge has its own.
class QuotaLimits {
 public:
  /// Soft quotas are limits where the objective counts costs. O(queues depth + jobs).
  QuotaLimits(const Instance& instance, Objective objective);

  [[nodiscard]] const std::vector<QuotaLimit>& limits() const { return limits_; }  ///< by queue
  [[nodiscard]] bool empty() const { return limits_.empty(); }

  /// The limits (positions in `limits`) that jobs of the queue count for, its own first. Empty for
  /// an invalid queue.
  [[nodiscard]] std::span<const std::uint32_t> of(QueueId queue) const;

  /// By QueueId: the price of a GPU in all limits its jobs count for. @param prices  by limit
  [[nodiscard]] std::vector<double> by_queue(std::span<const double> prices) const;

 private:
  std::vector<QuotaLimit> limits_;
  std::vector<std::vector<std::uint32_t>> chain_;  ///< by QueueId
};

}  // namespace berth::model
