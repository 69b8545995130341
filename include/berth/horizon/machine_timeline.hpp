// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/horizon/capacity_profile.hpp"
#include "berth/horizon/machine_rooms.hpp"
#include "berth/horizon/timeline.hpp"

namespace berth::horizon {

/// Machines with their free GPUs and resources over time; beside them, per pool, the free GPUs and
/// the machines that are wholly free, along which searches jump; and what quotas leave.
///
/// A job of one task takes the first machine with room. Gangs and tasks of whole machines take
/// machines from the last one backwards, so that small jobs and gangs do not fragment each other.
class MachineTimeline final : public Timeline {
 public:
  explicit MachineTimeline(const Problem& problem);

  Seconds earliest_start(const Option& option, PoolId pool, Seconds from) override;
  Gpus free_at(PoolId pool, Seconds time) const override;
  bool fits(const Option& option, PoolId pool, Seconds start,
            const std::vector<TaskShare>& shares) const override;
  void reserve(const Option& option, PoolId pool, Seconds start,
               std::vector<TaskShare>& shares) override;
  void release(const Option& option, PoolId pool, Seconds start,
               const std::vector<TaskShare>& shares) override;
  void retake(const Option& option, PoolId pool, Seconds start,
              const std::vector<TaskShare>& shares) override;

 private:
  /// Durations from 2^i seconds on; the last class has no upper end.
  static constexpr std::size_t kDurationClasses = 24;

  /// Machines of one domain within a pool.
  struct MachineRange {
    std::size_t first = 0;
    std::size_t last = 0;  ///< behind the last one
    Gpus gpus = 0;
  };

  struct PoolState {
    std::size_t first = 0;  ///< machine
    std::size_t machines = 0;
    std::int32_t machine_gpus = 0;  ///< of its largest machines
    CapacityProfile free_gpus;
    CapacityProfile free_machines;  ///< of machine_gpus, wholly free
    /// [(gpus - 1) kDurationClasses + class][machine in the pool]: no task of that many GPUs and
    /// at least that duration starts earlier. Only ever too low.
    std::vector<std::vector<Seconds>> earliest;
    std::array<std::vector<MachineRange>, model::kLevels> domains;  ///< by model::Level, ascending
  };

  [[nodiscard]] static bool takes_whole_machines(const PoolState& pool,
                                                 std::span<const TaskGroup> tasks);
  void add_domains(PoolState& pool);
  [[nodiscard]] Seconds quotas_allow(const Option& option, Seconds from) const;
  Seconds earliest_in_pool(PoolState& pool, const Option& option, Seconds from);
  Seconds earliest_single(PoolState& pool, const Option& option, const TaskGroup& group,
                          Seconds from);
  /// Least completion of the gang's start in the range, if below `limit`.
  [[nodiscard]] Seconds earliest_gang(const PoolState& pool, const MachineRange& range,
                                      const Option& option, Seconds from, Seconds limit) const;
  [[nodiscard]] Seconds gang_lower_bound(const MachineRange& range, const Option& option,
                                         Seconds from) const;
  [[nodiscard]] Seconds next_change(const MachineRange& range, Seconds time) const;
  /// Assigns all tasks at `start` within the range; false when they do not fit. Appends shares only
  /// then.
  bool assign_tasks(const PoolState& pool, const MachineRange& range, const Option& option,
                    Seconds start, std::vector<TaskShare>& shares) const;
  /// Takes (sign 1) or returns (-1) the GPUs of the shares.
  void change_all(PoolState& pool, const Option& option, Seconds start,
                  std::span<const TaskShare> shares, int sign);
  void change(PoolState& pool, MachineId machine, Seconds from, Seconds to, Gpus gpus);

  const Problem& problem_;
  std::vector<PoolState> pools_;
  MachineRooms machines_;
  std::vector<CapacityProfile> quotas_;  ///< GPUs left, by quota
};

/// Gives every share its GPUs: jobs in order of their start take the lowest free ones of each
/// machine. Enough are free because no machine is over-full at any moment.
/// O(shares log shares + outages).
void assign_devices(const Problem& problem, Plan& plan);

}  // namespace berth::horizon
