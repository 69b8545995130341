// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"
#include "machine_loads.hpp"
#include "rule_check.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/model/raw_plan.hpp"

namespace berth::certify {

/// Looks up the names of a plan file's jobs and placements, and reports invalid ones.
class PlacementCheck {
 public:
  /// @param instance  has the records of pinned jobs at least
  PlacementCheck(const model::InstanceView& instance, Findings& findings);

  /// The placement with its names looked up, if all of them are known.
  /// @pre the instance has the record of the job, if the name is that of a job
  std::optional<model::JobPlacement> placed(const model::RawPlacement& placement);
  /// The same for a plan in time: the start, machine states, and what machines hold at a time are
  /// not looked at.
  std::optional<model::JobPlacement> placed_in_time(const model::RawPlacement& placement);
  void waiting(const model::RawUnplacedJob& waiting);
  /// Reports jobs in neither list. Call once, after all jobs.
  void finish_jobs();
  /// Reports jobs in neither list and overloaded machines. Call once, after all jobs.
  void finish();

 private:
  using Tasks = std::vector<std::int64_t>;  ///< number found so far, by group of the job

  std::optional<JobId> claim(const std::string& job);
  /// Which numbers of tasks a job may have.
  enum class Gang : std::uint8_t { of_tasks, of_tasks_or_configuration };
  std::optional<model::JobPlacement> resolved(const model::RawPlacement& raw, Gang gang);
  /// True when the tasks found are those of a configuration of the job; elastic jobs need one.
  [[nodiscard]] bool is_configuration(JobId job, const Tasks& found) const;
  void check_state(const model::JobPlacement& placed);
  std::optional<model::TaskPlacement> resolve(JobId job, const model::RawTask& task, Tasks& found);
  std::optional<std::uint32_t> group_of(JobId job, const model::RawTask& task, std::int32_t slices,
                                        Tasks& found);
  void check_slices(JobId job, const model::RawTask& task, std::int32_t slices);
  std::optional<std::uint64_t> devices_of(JobId job, const model::RawTask& task, MachineId machine);
  void check_gang(JobId job, const Tasks& found);
  void check_types(const model::JobPlacement& placed);
  void check_domain(const model::JobPlacement& placed);
  [[nodiscard]] bool is_pinned(JobId job) const;
  [[nodiscard]] std::string told(JobId job) const;

  model::InstanceView instance_;
  Findings* findings_;
  std::unordered_map<std::string_view, JobId> jobs_;
  std::unordered_map<std::string_view, MachineId> machines_;
  std::vector<std::uint8_t> seen_;  ///< by JobId
  MachineLoads loads_;
  RuleCheck rules_;
};

}  // namespace berth::certify
