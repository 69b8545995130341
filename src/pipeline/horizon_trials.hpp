// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_problem.hpp"

#include <optional>
#include <span>
#include <vector>

#include "berth/horizon/dependency_graph.hpp"
#include "berth/horizon/machine_timeline.hpp"
#include "berth/horizon/timeline.hpp"

namespace berth::pipeline {

/// A plan in time, which jobs leave and to which a further one is added. Jobs are those of the
/// problem.
class HorizonTrials {
 public:
  HorizonTrials(const HorizonProblem& translated, const horizon::Plan& plan,
                const model::Horizon& horizon);

  /// True when the job waits for one that the plan does not start.
  [[nodiscard]] bool is_blocked(JobId job) const;
  /// Earliest start beside the plan within the horizon that gains something; `until` instead of its
  /// end asks for any start.
  [[nodiscard]] std::optional<horizon::JobStart> earliest(
      JobId job, std::optional<horizon::Seconds> until = {});
  /// The same once these jobs have left.
  [[nodiscard]] std::optional<horizon::JobStart> earliest_without(JobId job,
                                                                  std::span<const JobId> stopped);
  [[nodiscard]] horizon::Seconds end_of(JobId job, const horizon::JobStart& start) const;

  /// The least jobs by value that must leave for the job; none: leaving does not help.
  std::optional<std::vector<JobId>> victims(JobId job);
  [[nodiscard]] double value_of(JobId job) const;  ///< where the plan has it

  /// The plan without these jobs and with this one, with GPUs.
  horizon::Plan plan_with(std::span<const JobId> stopped, JobId job,
                          const horizon::JobStart& start);

 private:
  void leave(std::span<const JobId> jobs);
  void come_back(std::span<const JobId> jobs);
  [[nodiscard]] std::vector<JobId> candidates() const;
  std::vector<JobId> needed(JobId job, std::span<const JobId> among);
  [[nodiscard]] const horizon::Option& option_of(JobId job, const horizon::JobStart& start) const;

  const HorizonProblem& translated_;
  const horizon::Problem& problem_;
  model::Horizon horizon_;
  horizon::Plan plan_;
  horizon::MachineTimeline timeline_;
  horizon::BudgetsLeft budgets_;
  horizon::DependencyGraph graph_;
};

}  // namespace berth::pipeline
