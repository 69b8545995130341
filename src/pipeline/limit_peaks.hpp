// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// What the jobs of a plan in time, and pinned ones, take of queues and licenses over time.
class LimitPeaks {
 public:
  LimitPeaks(const model::InstanceView& instance, const model::RawHorizonPlan& plan);

  /// Most GPU thousandths of the queue and those below it at a moment of [from, to). O(jobs log)
  [[nodiscard]] std::int64_t gpu_milli(QueueId queue, std::int64_t from, std::int64_t to) const;
  /// Most licenses of a row of Cluster::licenses likewise.
  [[nodiscard]] std::int64_t licenses(std::uint32_t license, std::int64_t from,
                                      std::int64_t to) const;

 private:
  struct Span {
    JobId job;
    std::int64_t from = 0, to = 0;
    std::int64_t milli = 0;  ///< GPU thousandths
  };
  template <class Amount>
  [[nodiscard]] std::int64_t peak(std::int64_t from, std::int64_t to, const Amount& amount) const;

  model::InstanceView instance_;
  std::vector<Span> spans_;
};

}  // namespace berth::pipeline
