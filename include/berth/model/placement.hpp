// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"

namespace berth::model {

struct Instance;

/// One task on one machine: which devices, and how much of each.
struct TaskPlacement {
  MachineId machine;
  std::uint32_t group = 0;    ///< index among the job's task groups
  std::uint64_t devices = 0;  ///< bit i = device i of the machine; 0 for a CPU-only task
  std::int32_t milli = 0;     ///< taken from each of the devices: 1000, or the share; 0 CPU-only

  auto operator<=>(const TaskPlacement&) const = default;
};

/// A job with all its tasks. Tasks are ordered by group; within a group as placed.
struct JobPlacement {
  JobId job;
  std::int64_t start = 0;  ///< seconds
  std::vector<TaskPlacement> tasks = {};
};

/// The jobs that run, ascending JobId, each at most once.
using Placement = std::vector<JobPlacement>;

/// SHA-256 (hex) over the lines `job TAB machine TAB device TAB milli TAB start`, sorted bytewise;
/// device -1 and milli 0 for CPU-only tasks. Names, not indices: it survives renumbering.
std::string plan_digest(const Instance& instance, const Placement& placement);

}  // namespace berth::model
