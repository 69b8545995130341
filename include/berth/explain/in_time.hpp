// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::explain {

/// Why a job of a plan in time does not start a second earlier where it is: each cause is enough by
/// itself. Times are seconds.
struct PlannedStart {
  JobId job;
  std::int64_t start = 0;
  std::optional<std::int64_t> end;  ///< none: the job has no end
  bool begins = false;              ///< the plan begins then
  bool not_before = false;          ///< its own `not_before` is that second
  std::vector<JobId> after = {};    ///< jobs in its `after` that end then; ascending
  std::vector<JobId> leave = {};    ///< jobs that then leave GPUs of it; ascending
  std::vector<MachineId> open = {};     ///< machines of it on which a window ends; ascending
  std::vector<MachineId> machines = {};  ///< where it runs; ascending

  [[nodiscard]] bool explained() const {
    return begins || not_before || !after.empty() || !leave.empty() || !open.empty();
  }
};

/// The starts of a plan in time. Holds the instance; O(tasks log tasks) once.
class PlannedStarts {
 public:
  /// @param plan  names that the instance lacks are passed over
  PlannedStarts(const model::InstanceView& instance, const model::RawHorizonPlan& plan);
  ~PlannedStarts();

  /// None when the plan does not start the job. O(jobs on its machines + windows)
  [[nodiscard]] std::optional<PlannedStart> of(JobId job) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The start in words, lines of at most 80 columns without the job's name.
std::string text(const model::InstanceView& instance, std::int64_t now, const PlannedStart& start);

}  // namespace berth::explain
