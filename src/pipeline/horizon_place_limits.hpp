// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/horizon/problem_builder.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"
#include "berth/planner_model/coupling_limits.hpp"

namespace berth::pipeline {

/// Power budgets and uplinks of racks and pods, and GPUs beside spare ones, as limits of a problem
/// in time: less what running jobs use until they end, and other content for ever. Spare GPUs are
/// a limit at every moment.
class HorizonPlaceLimits {
 public:
  /// Adds them to the problem. O(running tasks log + racks + pods).
  HorizonPlaceLimits(const model::InstanceView& instance, const model::Horizon& horizon,
                     horizon::ProblemBuilder& builder);

  /// Those of a machine.
  [[nodiscard]] horizon::PlaceLimitIds of(MachineId machine) const;
  /// What the job sends over uplinks, where these have limits.
  [[nodiscard]] std::optional<horizon::Traffic> traffic_of(const model::Job& job) const;

 private:
  [[nodiscard]] std::int64_t capacity_of(const planner_model::CouplingLimit& limit) const;

  model::InstanceView instance_;
  planner_model::CouplingLimits limits_;
  std::vector<std::int32_t> id_;  ///< in the problem, by limit; -1: no limit
};

}  // namespace berth::pipeline
