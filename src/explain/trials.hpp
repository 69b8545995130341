// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "berth/model/instance.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::explain {

/// A plan, and a variant of one of its jobs at a time.
class Trials {
 public:
  using Edit = std::function<void(model::Job&, model::TaskGroup&)>;

  Trials(const model::Instance& instance, model::Objective objective,
         const model::Placement& placement);
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  [[nodiscard]] const model::WorkloadView& workload() const {
    return valuation_.instance().workload;
  }
  [[nodiscard]] const model::Cluster& cluster() const { return instance_.cluster; }
  [[nodiscard]] const planner_model::Valuation& valuation() const { return valuation_; }
  [[nodiscard]] const planner_model::CouplingLimits& limits() const { return limits_; }
  [[nodiscard]] const solver::Occupancy& occupancy() const { return occupancy_; }

  /// Calls `trial(occupancy, id)` with an unplaced copy of the job, edited, beside the plan.
  /// @param edit  changes the record and its first task group
  template <class Trial>
  auto with(JobId job, const Edit& edit, const Trial& trial) {
    const JobId variant = add(job, edit);
    auto result = trial(occupancy_, variant);
    remove(variant);
    return result;
  }

 private:
  JobId add(JobId job, const Edit& edit);
  void remove(JobId variant);

  model::Instance instance_;  ///< a copy: variants are jobs of it
  planner_model::Valuation valuation_;
  planner_model::CouplingLimits limits_;
  solver::Occupancy occupancy_;
};

}  // namespace berth::explain
