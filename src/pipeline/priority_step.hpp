// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/comm/communicator.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::pipeline {

/// The workload in which one class of a plan by priority is planned beside the classes above. It
/// differs from the original in this:
/// - placed jobs run where they are placed and are required; those of classes above may move only
///   to places of at least the same value (GPU type, width, distance from home);
/// - jobs of this class, required jobs and running jobs of lower classes may be placed; the values
///   of lower classes count 2^-12, so that a running job is not displaced without need;
/// - all other jobs are allowed nowhere.
/// A running job that may move and whose place is taken waits, its costs in its value.
struct PriorityStep {
  model::WorkloadTables tables;
  model::JobSet records;  ///< on rank 0 all, elsewhere the pinned jobs
};

/// Collective. @param instance, placed  on rank 0 with all jobs; placed by classes above, and
/// required jobs
PriorityStep priority_step(const comm::Communicator& comm, const model::InstanceView& instance,
                           model::Objective objective, std::int32_t priority,
                           const model::Placement& placed);

}  // namespace berth::pipeline
