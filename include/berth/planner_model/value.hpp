// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/fragmentation.hpp"
#include "berth/planner_model/limit_groups.hpp"

namespace berth::planner_model {

/// Prices of limits, which are paid beside those of machines.
class SharedPrices {
 public:
  SharedPrices() = default;  ///< all prices are 0
  /// @param prices  as LimitGroups::prices: per GPU of each quota, then per unit of each group
  SharedPrices(const LimitGroups& groups, std::span<const double> prices);

  [[nodiscard]] bool empty() const { return queues_.empty() && groups_ == nullptr; }
  /// True when the price that a job pays depends on GPU type and width.
  [[nodiscard]] bool of_places() const { return groups_ != nullptr; }
  /// Price that the job pays: for its queue, and for its least use of limits of racks and pods at
  /// this type and width.
  [[nodiscard]] double operator()(const model::InstanceView& instance, JobId job, GpuTypeId type,
                                  model::Level width) const;

 private:
  std::vector<double> queues_ = {};      ///< by QueueId, per GPU, including ancestors; empty: all 0
  const LimitGroups* groups_ = nullptr;  ///< null: limits of racks and pods have no price
  std::vector<double> by_group_ = {};    ///< per unit
};

/// The planner's value of a job under an objective. The judge (`certify`) has its own code.
///
///   base [x speed[type] x home factor[distance] x width factor[width], when factors count]
///
/// with the base and the factors of `kObjectives`, the base times `WorkloadTables::weight_of`.
/// Where costs count, the value of a running job includes the cost of stopping it, and its move
/// cost is subtracted wherever it does not run now. So "not in the plan" has value 0 for every job,
/// and the objective is the sum over placed jobs less `stop_costs`.
class Valuation {
 public:
  /// @param prices  subtracted from all values but `unpriced_value`
  Valuation(const model::InstanceView& instance, model::Objective objective,
            SharedPrices prices = {})
      : instance_(instance),
        objective_(objective),
        prices_(std::move(prices)),
        fragmentation_(instance) {}

  /// The values before all prices. O(1): the fragmentation is not computed again.
  [[nodiscard]] Valuation unpriced() const {
    Valuation values = *this;
    values.prices_ = {};
    return values;
  }

  /// Value of the job on `type` (invalid for CPU-only jobs), in a domain of level `width`, its
  /// farthest task at `distance` from home (Level::rack = in the home rack; ignored for jobs
  /// without a home). Negative only if prices are subtracted.
  [[nodiscard]] double option(JobId job, GpuTypeId type, model::Level width,
                              model::Level distance) const;

  /// Value of the job at this placement; a running job that stays saves its move cost. O(tasks log
  /// tasks).
  [[nodiscard]] double placed(const model::JobPlacement& placement) const;
  /// Value of the placement before the prices of limits.
  [[nodiscard]] double unpriced_value(const model::JobPlacement& placement) const;

  /// Largest value of any option of the job on `type`.
  [[nodiscard]] double best(JobId job, GpuTypeId type) const {
    return option(job, type, model::Level::machine, model::Level::machine);
  }

  /// Largest value of any option on any allowed type, at least 0; for a job without GPUs the value
  /// that it has on every machine. O(types).
  [[nodiscard]] double best(JobId job) const;

  /// Cost of stopping all running jobs that may be stopped.
  [[nodiscard]] double stop_costs() const;

  /// True when the job runs, and its value falls when it is placed elsewhere.
  [[nodiscard]] bool pays_for_moves(JobId job) const;

  /// True when neither home nor width factor nor ring price changes the job's value, and no rule
  /// restricts them but labels: only the GPU type matters.
  [[nodiscard]] bool place_independent(JobId job) const;

  [[nodiscard]] model::Objective objective() const { return objective_; }
  [[nodiscard]] const model::InstanceView& instance() const { return instance_; }
  /// Of the instance's tasks on its machines: no value, but what best fit keeps low.
  [[nodiscard]] const Fragmentation& fragmentation() const { return fragmentation_; }

 private:
  [[nodiscard]] double unpriced_option(JobId job, GpuTypeId type, model::Level width,
                                       model::Level distance) const;
  model::InstanceView instance_;
  model::Objective objective_;
  SharedPrices prices_;
  Fragmentation fragmentation_;
};

/// Narrowest level that holds all tasks, and the distance of the farthest task from home
/// (Level::machine when the job has no home). O(tasks).
struct Extent {
  model::Level width = model::Level::machine;
  model::Level distance = model::Level::machine;
};
Extent extent(const model::InstanceView& instance, const model::JobPlacement& placement);

/// Present placement of a running job.
model::JobPlacement current_placement(const model::WorkloadView& workload,
                                      const model::Running& running);

/// False when a machine of a running job's present placement is being evacuated. O(tasks)
bool may_stay(const model::Cluster& cluster, const model::JobPlacement& present);

/// True when the placement equals the present placement of the running job. O(tasks log tasks).
bool stays(const model::WorkloadView& workload, const model::Running& running,
           const model::JobPlacement& placement);

}  // namespace berth::planner_model
