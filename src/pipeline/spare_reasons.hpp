// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::pipeline {

/// GPUs that a plan leaves beside spare ones.
class SpareReason {
 public:
  /// @param valuation  before prices of limits; must outlive this
  /// @param use        by limit: use by the plan
  SpareReason(const planner_model::Valuation& valuation,
              const planner_model::CouplingLimits& limits, std::span<const std::int64_t> use);

  /// Why spare GPUs keep out a job: on each of the types it needs some of them, and their least
  /// penalty exceeds its value there. Empty if they do not.
  /// @param usable  GPU types that the job may have and machines have, bit by GpuTypeId
  [[nodiscard]] std::string why(JobId id, std::uint64_t usable) const;

 private:
  struct OfType {
    std::int64_t left = 0;  ///< thousandths
    double penalty = 0.0;   ///< least of all pods, per GPU; 0: a pod has no spare GPUs
  };
  const planner_model::Valuation* valuation_;
  std::vector<OfType> types_;  ///< by GpuTypeId; empty: there are no spare GPUs
};

}  // namespace berth::pipeline
