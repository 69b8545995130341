// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// Sum of GPU thousandths over all tasks of the job.
std::int64_t milli_of(const model::WorkloadView& workload, const model::Job& job);

/// True when some task of the job takes a GPU or a share of one.
bool uses_gpu(const model::WorkloadView& workload, const model::Job& job);

/// True when the job takes GPUs, and only whole ones.
bool is_countable(const model::WorkloadView& workload, const model::Job& job);

/// Value of one job under one objective, by GPU type (invalid without GPUs), width and distance of
/// the farthest task from home (Level::machine for a job without a home).
class JobValue {
 public:
  JobValue(const model::InstanceView& instance, model::Objective kind, const model::Job& job)
      : JobValue(instance, kind, job, milli_of(instance.workload, job)) {}
  /// @param milli  milli_of the job
  JobValue(const model::InstanceView& instance, model::Objective kind, const model::Job& job,
           std::int64_t milli);

  [[nodiscard]] double at(GpuTypeId type, model::Level width, model::Level distance) const;

  /// Value lost when the running job is stopped, or placed elsewhere than now: 0 for a job that
  /// does not run or is pinned, and where the objective counts no costs.
  [[nodiscard]] double stop_cost() const { return running_ == nullptr ? 0.0 : running_->stop_cost; }
  [[nodiscard]] double move_cost() const { return running_ == nullptr ? 0.0 : running_->move_cost; }

 private:
  model::WorkloadView workload_;
  const model::Job* job_;
  const model::Running* running_ = nullptr;
  double base_ = 0.0;
  bool factors_ = true;  ///< speed, home and width count
};

/// Narrowest domain that holds all tasks, and the distance of the farthest from home.
struct PlacementExtent {
  model::Level width = model::Level::machine;
  model::Level distance = model::Level::machine;
  GpuTypeId type;  ///< of the first task with a device
};
PlacementExtent extent_of(const model::InstanceView& instance, const model::JobPlacement& placed);

/// Present placement of a running job. Empty when it does not run or is pinned.
std::optional<model::JobPlacement> present(const model::WorkloadView& workload, JobId job);

/// The machines that hold tasks, ascending, each once.
std::vector<MachineId> machines_of(std::span<const model::TaskPlacement> tasks);

/// False when some machine of the placement is not up: a running job must leave it.
bool may_stay(const model::Cluster& cluster, const model::JobPlacement& present);

/// True when the job runs, may move, and is placed exactly as now.
bool stays(const model::WorkloadView& workload, const model::JobPlacement& placed);

/// Value lost when this running job is stopped: 0 when it is pinned, and where costs do not count.
double stop_cost(const model::Running& running, model::Objective kind);

/// Sum over all running jobs, each in fixed point by `fixed` (fixed_up or fixed_down).
Int128 stop_costs(const model::WorkloadView& workload, model::Objective kind, int scale_log2,
                  Int128 (*fixed)(double, int));

}  // namespace berth::certify
