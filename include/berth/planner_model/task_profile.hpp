// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/workload.hpp"

namespace berth::planner_model {

/// Demand of a job's tasks: shape and number of each task group, in file order, and the rules about
/// their machines. A job fits into the
/// places of every job with an equal profile. The planner's only key of equal tasks: market,
/// exchanges, demand forecast and equal jobs add the other properties that they compare.
struct TaskProfile {
  struct TaskCount {
    ShapeId shape;
    std::int32_t count = 1;
    auto operator<=>(const TaskCount&) const = default;
  };
  std::vector<TaskCount> groups;
  std::uint32_t rules = 0;  ///< row of WorkloadTables::rules

  TaskProfile() = default;
  /// O(task groups)
  TaskProfile(const model::WorkloadView& workload, const model::Job& job) : rules(job.rules) {
    for (const model::TaskGroup& g : workload.groups_of(job)) groups.push_back({g.shape, g.count});
  }

  /// Depends on shape numbers, so on the instance.
  [[nodiscard]] std::uint64_t hash() const {
    std::uint64_t key = 0;
    for (const TaskCount& g : groups) {
      key = mix64(key ^ static_cast<std::uint64_t>(g.shape.value()));
      key = mix64(key ^ static_cast<std::uint64_t>(g.count));
    }
    return rules == 0 ? key : mix64(key ^ mix64(rules));
  }

  auto operator<=>(const TaskProfile&) const = default;
};

template <class Archive>
void describe(Archive& archive, TaskProfile& profile) {
  archive(profile.groups, profile.rules);
}

struct TaskProfileHash {
  std::size_t operator()(const TaskProfile& profile) const { return profile.hash(); }
};

}  // namespace berth::planner_model
