// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::model {

/// The planner's view of what a job is worth under an objective. The judge (`certify`) has its own.
///
///   value:    base x speed[type] x home factor[distance] x spread factor[width]
///             base = value when given, else weight x GPUs (0 for a CPU-only job)
///   allocate: GPU thousandths, wherever it lies
class Valuation {
 public:
  Valuation(const Instance& instance, Objective objective)
      : instance_(&instance), objective_(objective) {}

  /// Value of the job on `type` (invalid for CPU-only jobs), lying in a domain of level `width`,
  /// its farthest task at `distance` from home (Level::rack = in the home rack; jobs without a
  /// home: any). Not negative.
  [[nodiscard]] double option(JobId job, GpuTypeId type, Level width, Level distance) const;

  /// Value of the job as placed. O(tasks).
  [[nodiscard]] double placed(const JobPlacement& placement) const;

  /// Largest value any option of the job can have on `type`.
  [[nodiscard]] double best(JobId job, GpuTypeId type) const {
    return option(job, type, Level::machine, Level::machine);
  }

  /// True when neither home nor spread changes the job's value: only the GPU type matters.
  [[nodiscard]] bool placeless(JobId job) const;

  [[nodiscard]] Objective objective() const { return objective_; }
  [[nodiscard]] const Instance& instance() const { return *instance_; }

 private:
  const Instance* instance_;
  Objective objective_;
};

/// Narrowest level that holds all tasks, and the distance of the farthest task from home
/// (Level::machine when the job has no home). O(tasks).
struct Extent {
  Level width = Level::machine;
  Level distance = Level::machine;
};
Extent extent(const Instance& instance, const JobPlacement& placement);

/// The first of the two alone. O(tasks).
Level width(const Cluster& cluster, std::span<const TaskPlacement> tasks);

}  // namespace berth::model
