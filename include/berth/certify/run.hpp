// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/run_record.hpp"

namespace berth::certify {

/// The judgement of a simulation from its job records alone.
struct RunCheck {
  std::vector<std::string> faults;  ///< one sentence each, at most kMostFaults
  std::int64_t fault_count = 0;
  model::RunFigures figures;  ///< recomputed

  static constexpr std::size_t kMostFaults = 20;
  [[nodiscard]] bool valid() const { return fault_count == 0; }
};

/// A machine that was down in [from, to), microseconds.
struct MachineDown {
  MachineId machine;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// Checks: every job once; arrival, work and GPUs as the jobs file says; runs in order of time and
/// after the arrival; progress within the clock, and all work done; tasks as the job asks, on GPUs
/// of one allowed type that the machine has; starts after the ends of `after`; no device and no
/// resource of a machine above its amount at any moment; nothing on machines that are `down` or in
/// a window; hard quotas and rules about machines at any moment; the rates of jobs without a
/// profile; the figures of `summary` against those recomputed (1e-9). Shares no code with the
/// simulator. O(records + runs log runs)
RunCheck check_run(const model::Instance& instance, std::span<const model::JobRecord> records,
                   const model::RunSummary& summary, std::span<const MachineDown> down = {});

/// The figures of docs/metrics.md, counted apart from the simulator.
model::RunFigures run_figures(const model::Instance& instance,
                              std::span<const model::JobRecord> records);

}  // namespace berth::certify
