// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "berth/policy/state.hpp"

namespace berth::sim {

/// How far a decision has come with a job.
enum class Standing : std::uint8_t {
  absent,  ///< has not arrived
  stays,   ///< it may not be stopped, or has been served
  served_later,
  loses,  ///< jobs before it want all GPUs: it keeps what they leave
};

/// Starts jobs in place of running ones that are served later. Machines are chosen so that little
/// is displaced, jobs that lose their GPUs in any case first.
class Displacement {
 public:
  /// Begins a decision. @param standing  by JobId; changes while the decision is made
  Displacement(policy::State& state, const std::vector<Standing>& standing);

  /// Starts a waiting job on the type, on free GPUs or in place of others; false, and nothing
  /// changed, when it does not fit even without all jobs that may be displaced.
  /// O(machines + running jobs) for each machine that is emptied
  bool start(JobId job, GpuTypeId type);
  /// A job left GPUs of the type for another one: what did not fit may fit now.
  void forget_failures() { hopeless_.clear(); }

 private:
  struct Eviction {
    double cost = 0.0;
    std::vector<JobId> jobs = {};
  };
  void list_by_machine();
  [[nodiscard]] bool may_stop(JobId job, GpuTypeId type) const;
  [[nodiscard]] bool enough(JobId job, GpuTypeId type) const;
  [[nodiscard]] double cost_of(JobId job) const;
  [[nodiscard]] Eviction eviction_from(std::size_t machine, GpuTypeId type, int gpus) const;
  [[nodiscard]] bool displace(JobId job, GpuTypeId type);
  bool by_machine(JobId job, GpuTypeId type, int gpus);
  bool by_cost(JobId job, GpuTypeId type);
  [[nodiscard]] std::span<const JobId> dearest_first(GpuTypeId type);
  void stop(JobId job);
  void return_stopped();

  policy::State& state_;
  const std::vector<Standing>& standing_;
  std::vector<std::vector<JobId>> on_machine_;  ///< by MachineId; empty: not listed yet
  std::vector<std::optional<std::vector<JobId>>>
      by_type_;  ///< of a GPU type; empty: not listed yet
  std::vector<JobId> stopped_;
  /// Demands and types that did not fit in place of all jobs that may be displaced, ascending:
  /// these become fewer while a decision is made.
  std::vector<std::pair<std::uint32_t, GpuTypeId>> hopeless_;
};

}  // namespace berth::sim
