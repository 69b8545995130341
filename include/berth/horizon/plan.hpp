// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/horizon/time.hpp"

namespace berth::horizon {

/// Tasks of one group of a job on one machine, from its start to its end.
struct TaskShare {
  MachineId machine;
  std::int32_t group = 0;     ///< in the option's task groups
  std::int32_t tasks = 0;     ///< of that group
  std::uint64_t devices = 0;  ///< bit g: GPU g
  std::int32_t lane = -1;     ///< of DeviceShares, for tasks with a share of a GPU
};

/// Where and when one job runs.
struct JobStart {
  std::int32_t option = -1;  ///< in the job's options; -1: the job waits
  PoolId pool;
  Seconds start = kNever;
  IndexRange shares;  ///< in Plan::shares; empty in a plan over pools

  [[nodiscard]] bool placed() const { return option >= 0; }
};

/// Starts of all jobs. A plan over pools has no shares: jobs take GPUs of a pool, no machines.
struct Plan {
  std::vector<JobStart> starts;  ///< by JobId
  std::vector<TaskShare> shares;
};

template <class Archive>
void describe(Archive& archive, Plan& plan) {
  archive(plan.starts, plan.shares);
}

/// Completion of a placed job.
Seconds end_of(const Problem& problem, JobId job, const JobStart& start);

/// Sum of the costs of the placed jobs. O(jobs).
double cost_of(const Problem& problem, const Plan& plan);

}  // namespace berth::horizon
