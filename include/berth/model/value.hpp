// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/uplink_groups.hpp"

namespace berth::model {

/// What quotas and uplinks cost beside the machines.
struct SharedPrices {
  std::vector<double> queues = {};  ///< by QueueId, per GPU, ancestors included; empty: nothing
  const UplinkGroups* uplinks = nullptr;  ///< null: they cost nothing
  std::vector<double> links = {};         ///< by group of `uplinks`, per Mbit/s
};

/// The planner's view of what a job is worth under an objective. The judge (`certify`) has its own.
///
///   base [x speed[type] x home factor[distance] x width factor[width], when factors count]
///
/// with base and what counts as `kObjectives` says. Where costs count, a running job is worth what
/// stopping it would cost more than a waiting one, and less by its move cost wherever it does not
/// run now. So "not in the plan" is worth 0 for every job, and the objective is the sum over placed
/// jobs less `stop_costs`.
class Valuation {
 public:
  /// @param prices  taken off every value below but `unpriced_value`
  Valuation(const Instance& instance, Objective objective, SharedPrices prices = {})
      : instance_(&instance), objective_(objective), prices_(std::move(prices)) {}

  /// Value of the job on `type` (invalid for CPU-only jobs), lying in a domain of level `width`,
  /// its farthest task at `distance` from home (Level::rack = in the home rack; jobs without a
  /// home: any). Not negative but for the prices.
  [[nodiscard]] double option(JobId job, GpuTypeId type, Level width, Level distance) const;

  /// Value of the job as placed; a running job that lies as it does now saves its move cost.
  /// O(tasks log tasks).
  [[nodiscard]] double placed(const JobPlacement& placement) const;
  /// The same before the prices of quotas and uplinks.
  [[nodiscard]] double unpriced_value(const JobPlacement& placement) const;

  /// Largest value any option of the job can have on `type`.
  [[nodiscard]] double best(JobId job, GpuTypeId type) const {
    return option(job, type, Level::machine, Level::machine);
  }

  /// The same on the best type the job may use, at least 0; without GPUs its value anywhere.
  /// O(types).
  [[nodiscard]] double best(JobId job) const;

  /// What stopping all running jobs that may be stopped would cost.
  [[nodiscard]] double stop_costs() const;

  /// True when neither home nor spread (nor what a ring pays) changes the job's value: only the GPU
  /// type matters.
  [[nodiscard]] bool place_independent(JobId job) const;

  [[nodiscard]] Objective objective() const { return objective_; }
  [[nodiscard]] const Instance& instance() const { return *instance_; }

 private:
  [[nodiscard]] double unpriced_option(JobId job, GpuTypeId type, Level width,
                                       Level distance) const;
  [[nodiscard]] double shared_price(JobId job, GpuTypeId type, Level width) const;

  const Instance* instance_;
  Objective objective_;
  SharedPrices prices_;
};

/// Narrowest level that holds all tasks, and the distance of the farthest task from home
/// (Level::machine when the job has no home). O(tasks).
struct Extent {
  Level width = Level::machine;
  Level distance = Level::machine;
};
Extent extent(const Instance& instance, const JobPlacement& placement);

/// Where a running job lies now.
JobPlacement current_placement(const Workload& workload, const Running& running);

/// True when the running job lies exactly as now. O(tasks log tasks).
bool stays(const Workload& workload, const Running& running, const JobPlacement& placement);

}  // namespace berth::model
