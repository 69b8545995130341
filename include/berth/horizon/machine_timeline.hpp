// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/horizon/capacity_profile.hpp"
#include "berth/horizon/timeline.hpp"

namespace berth::horizon {

/// Machines with their free GPUs over time; beside them, per pool, the free GPUs and the machines
/// that are wholly free, along which searches jump.
///
/// A job of one task takes the first machine with room. Gangs and tasks of whole machines take
/// machines from the last one backwards, so that small jobs and gangs do not fragment each other.
class MachineTimeline final : public Timeline {
 public:
  explicit MachineTimeline(const Problem& problem);

  Seconds earliest_start(const Option& option, PoolId pool, Seconds from) override;
  Gpus free_at(PoolId pool, Seconds time) const override;
  void reserve(const Option& option, PoolId pool, Seconds start,
               std::vector<TaskShare>& shares) override;
  void release(const Option& option, PoolId pool, Seconds start,
               const std::vector<TaskShare>& shares) override;
  void retake(const Option& option, PoolId pool, Seconds start,
              const std::vector<TaskShare>& shares) override;

 private:
  /// Durations from 2^i seconds on; the last class has no upper end.
  static constexpr std::size_t kDurationClasses = 24;

  struct PoolState {
    std::size_t first = 0;  ///< machine
    std::size_t machines = 0;
    std::int32_t machine_gpus = 0;  ///< of its largest machines
    CapacityProfile free_gpus;
    CapacityProfile free_machines;  ///< of machine_gpus, wholly free
    /// [(gpus - 1) kDurationClasses + class][machine in the pool]: no task of that many GPUs and
    /// at least that duration starts earlier. Only ever too low.
    std::vector<std::vector<Seconds>> earliest;
  };

  [[nodiscard]] static bool takes_whole_machines(const PoolState& pool,
                                                 std::span<const TaskGroup> tasks);
  Seconds earliest_single(PoolState& pool, const Option& option, std::int32_t gpus, Seconds from);
  [[nodiscard]] Seconds gang_lower_bound(const PoolState& pool, const Option& option,
                                         Seconds from) const;
  [[nodiscard]] Seconds earliest_gang(const PoolState& pool, const Option& option,
                                      Seconds from) const;
  /// Assigns all tasks at `start`; false when they do not fit. Appends shares only then.
  bool assign_tasks(const PoolState& pool, const Option& option, Seconds start,
                    std::vector<TaskShare>& shares) const;
  /// Takes (sign 1) or returns (-1) the GPUs of the shares.
  void change_all(PoolState& pool, const Option& option, Seconds start,
                  std::span<const TaskShare> shares, int sign);
  void change(PoolState& pool, MachineId machine, Seconds from, Seconds to, Gpus gpus);

  const Problem& problem_;
  std::vector<PoolState> pools_;
  std::vector<CapacityProfile> machines_;  ///< by MachineId: free GPUs
};

/// Gives every share its GPUs: jobs in order of their start take the lowest free ones of each
/// machine. Enough are free because no machine is over-full at any moment.
/// O(shares log shares + outages).
void assign_devices(const Problem& problem, Plan& plan);

}  // namespace berth::horizon
