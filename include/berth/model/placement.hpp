// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/task_placement.hpp"

namespace berth::model {

struct InstanceView;
enum class Level : std::uint8_t;

/// A job with all its tasks. Tasks are ordered by group; within a group in order of placement.
struct JobPlacement {
  JobId job;
  std::int64_t start = 0;  ///< seconds
  std::vector<TaskPlacement> tasks = {};
};

template <class Archive>
void describe(Archive& archive, JobPlacement& placed) {
  archive(placed.job, placed.start, placed.tasks);
}

/// The placed jobs, ascending JobId, each at most once.
using Placement = std::vector<JobPlacement>;

/// Narrowest level of domain that holds all tasks. O(tasks).
Level width(const Cluster& cluster, std::span<const TaskPlacement> tasks);

/// SHA-256 (hex) over the lines `job TAB machine TAB device TAB milli TAB start`, sorted bytewise;
/// device -1 and milli 0 for CPU-only tasks. Uses names, not indices, so renumbering does not
/// change it.
std::string plan_digest(const InstanceView& instance, const Placement& placement);

}  // namespace berth::model
