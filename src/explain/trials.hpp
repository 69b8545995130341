// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "berth/model/instance.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/free_task_counts.hpp"
#include "berth/solver/make_room.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::explain {

/// A plan, and a variant of one of its jobs at a time.
class Trials {
 public:
  using Edit = std::function<void(model::Job&, model::TaskGroup&)>;

  Trials(model::Instance instance, model::Objective objective, model::Placement placement);
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  [[nodiscard]] const model::WorkloadView& workload() const {
    return valuation_.instance().workload;
  }
  [[nodiscard]] const model::Instance& instance() const { return instance_; }
  [[nodiscard]] const model::Cluster& cluster() const { return instance_.cluster; }
  [[nodiscard]] const planner_model::Valuation& valuation() const { return valuation_; }
  [[nodiscard]] const planner_model::CouplingLimits& limits() const { return limits_; }
  [[nodiscard]] const solver::Occupancy& occupancy() const { return occupancy_; }

  /// Of the free room beside the plan.
  [[nodiscard]] solver::FreeTaskCounts& counts() { return counts_; }

  /// Of all jobs that the plan places.
  [[nodiscard]] double value() const { return value_; }

  /// A placement in free room of a copy of the job, edited, beside the plan. What one search learns
  /// of domains without room serves those that follow.
  /// @param edit  changes the record and its first task group
  std::optional<model::JobPlacement> find_room(JobId job, const Edit& edit);

  /// A placement of the job itself in free room when this much of a limit may be used in all.
  std::optional<model::JobPlacement> find_room(JobId job,
                                               const planner_model::LimitAmount& allowed);

  /// Room for such a copy among the other jobs. What it learns of the plan serves later searches.
  std::optional<solver::MadeRoom> make_room(JobId job, const Edit& edit);

 private:
  JobId add(JobId job, const Edit& edit);
  void remove(JobId variant);

  model::Instance instance_;  ///< variants are jobs of it
  planner_model::Valuation valuation_;
  planner_model::CouplingLimits limits_;
  solver::Occupancy occupancy_;
  double value_ = 0.0;
  solver::FreeTaskCounts counts_;
  solver::RoomSearch rooms_;
  solver::RoomMaker maker_;
};

}  // namespace berth::explain
