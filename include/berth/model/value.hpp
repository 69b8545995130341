// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/uplink_groups.hpp"

namespace berth::model {

/// Prices of quotas and uplinks, which are paid beside those of machines.
struct SharedPrices {
  std::vector<double> queues = {};  ///< by QueueId, per GPU, including ancestors; empty: all 0
  const UplinkGroups* uplinks = nullptr;  ///< null: uplinks have no price
  std::vector<double> links = {};         ///< by group of `uplinks`, per Mbit/s
};

/// The planner's value of a job under an objective. The judge (`certify`) has its own code.
///
///   base [x speed[type] x home factor[distance] x width factor[width], when factors count]
///
/// with the base and the factors of `kObjectives`. Where costs count, the value of a running job
/// includes the cost of stopping it, and its move cost is subtracted wherever it does not run now.
/// So "not in the plan" has value 0 for every job, and the objective is the sum over placed jobs
/// less `stop_costs`.
class Valuation {
 public:
  /// @param prices  subtracted from every value below but `unpriced_value`
  Valuation(const Instance& instance, Objective objective, SharedPrices prices = {})
      : instance_(&instance), objective_(objective), prices_(std::move(prices)) {}

  /// Value of the job on `type` (invalid for CPU-only jobs), in a domain of level `width`, its
  /// farthest task at `distance` from home (Level::rack = in the home rack; any for jobs without a
  /// home). Negative only because of prices.
  [[nodiscard]] double option(JobId job, GpuTypeId type, Level width, Level distance) const;

  /// Value of the job at this placement; a running job that stays saves its move cost. O(tasks log
  /// tasks).
  [[nodiscard]] double placed(const JobPlacement& placement) const;
  /// Value of the placement before the prices of quotas and uplinks.
  [[nodiscard]] double unpriced_value(const JobPlacement& placement) const;

  /// Largest value any option of the job can have on `type`.
  [[nodiscard]] double best(JobId job, GpuTypeId type) const {
    return option(job, type, Level::machine, Level::machine);
  }

  /// Largest value of any option on any type the job may use, at least 0; for a job without GPUs
  /// its value anywhere. O(types).
  [[nodiscard]] double best(JobId job) const;

  /// Cost of stopping all running jobs that may be stopped.
  [[nodiscard]] double stop_costs() const;

  /// True when neither home nor width factor nor ring price changes the job's value: only the GPU
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

/// Present placement of a running job.
JobPlacement current_placement(const Workload& workload, const Running& running);

/// True when the placement equals the running job's present one. O(tasks log tasks).
bool stays(const Workload& workload, const Running& running, const JobPlacement& placement);

}  // namespace berth::model
