// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "berth/model/cluster.hpp"
#include "berth/model/placement_rules.hpp"

namespace berth::model {

/// Tasks of one job by machine, rack and pod while they are placed one by one, under its rules
/// `max_tasks` and `min_domains`. Holds references.
class DomainTaskCounts {
 public:
  /// @param tasks  of the job; none is placed
  DomainTaskCounts(const Cluster& cluster, const PlacementRules& rules, std::int64_t tasks);

  /// False when no rule restricts the machines of this job.
  [[nodiscard]] bool bind() const { return bind_; }
  /// One more task on the machine exceeds no number of tasks, and the tasks after it can still
  /// reach the number of domains. O(1)
  [[nodiscard]] bool allow(MachineId machine) const;
  /// Tasks, at most `limit`, that are allowed on the machine one after the other. O(limit)
  [[nodiscard]] std::int64_t allowed(MachineId machine, std::int64_t limit);
  void take(MachineId machine);
  void give_back(MachineId machine);

 private:
  static constexpr std::size_t kDomainLevels = std::tuple_size_v<DomainCounts>;
  using Domains = std::array<std::int32_t, kDomainLevels>;
  [[nodiscard]] Domains domains_of(MachineId machine) const;

  const Cluster* cluster_;
  const PlacementRules* rules_;
  bool bind_;
  std::int64_t left_;  ///< tasks that are not placed
  /// By level: number of tasks by domain, without zeros.
  std::array<std::unordered_map<std::int32_t, std::int64_t>, kDomainLevels> placed_;
};

/// Most tasks that a job of `tasks` tasks may have in one domain of each level: `max_tasks`, or
/// what leaves a task for each further domain of `min_domains`.
std::array<std::int64_t, kLevels - 1> most_tasks_in(const PlacementRules& rules,
                                                    std::int64_t tasks);

}  // namespace berth::model
