// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "berth/horizon/capacity_profile.hpp"
#include "berth/horizon/machine_rooms.hpp"
#include "berth/horizon/place_limits.hpp"
#include "berth/horizon/timeline.hpp"

namespace berth::horizon {

/// Machines with their free GPUs and resources over time; beside them, per pool, the free GPUs and
/// the machines that are wholly free, along which searches jump; and what quotas and licenses
/// leave.
///
/// A job of one task takes, of the machines with room, the one whose other jobs end when it ends,
/// so that machines become free as a whole; the first with room where tasks have shares. Gangs and
/// tasks of whole machines take machines from the last one backwards, so that small jobs and gangs
/// do not fragment each other.
class MachineTimeline final : public Timeline {
 public:
  explicit MachineTimeline(const Problem& problem);

  Seconds earliest_until(const Option& option, PoolId pool, Seconds from, Seconds until) override;
  Seconds suited_start(const Option& option, PoolId pool, Seconds start, Seconds latest,
                       double delay_weight) override;
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
  /// Thousandths: a share of class c takes more than c of these.
  static constexpr std::int32_t kShareClass = 125;
  static constexpr std::int32_t kShareClasses = 8;

  /// Machines of one domain within a pool.
  struct MachineRange {
    std::size_t first = 0;
    std::size_t last = 0;  ///< behind the last one
    Gpus gpus = 0;
  };

  /// What is free on a machine for one job, with its shares of GPUs.
  struct MachineRoom {
    Room room;
    std::optional<SharedGpus> shared = {};  ///< for jobs with shares
  };
  [[nodiscard]] MachineRoom room_of(std::size_t machine, const Option& option, Seconds start) const;

  struct PoolState {
    std::size_t first = 0;  ///< machine
    std::size_t machines = 0;
    std::int32_t machine_gpus = 0;  ///< of its largest machines
    CapacityProfile free_gpus;
    CapacityProfile free_machines;  ///< of machine_gpus, wholly free
    /// [(gpus - 1) kDurationClasses + class of duration][machine in the pool]: no task of that many
    /// GPUs that runs at least so long starts earlier. Only ever too low. Shares by kShareClass
    /// behind them.
    std::vector<std::vector<Seconds>> earliest;
    std::array<std::vector<MachineRange>, model::kLevels> domains;  ///< by model::Level, ascending
  };

  /// Of PoolState::earliest, for tasks of the group that run so long.
  [[nodiscard]] static std::size_t row_of(const PoolState& pool, const TaskGroup& group,
                                          Seconds duration);
  [[nodiscard]] static bool takes_whole_machines(const PoolState& pool,
                                                 std::span<const TaskGroup> tasks);
  void add_domains(PoolState& pool);
  [[nodiscard]] Seconds limits_allow(const Option& option, Seconds from,
                                     Seconds until = kNever) const;
  Seconds earliest_in_pool(PoolState& pool, const Option& option, Seconds from, Seconds until);
  Seconds earliest_single(PoolState& pool, const Option& option, const TaskGroup& group,
                          Seconds from, Seconds until);
  template <class Found>
  bool for_each_domain(const PoolState& pool, const Option& option, const Found& found) const;
  /// Least completion of the gang's start in the range, if below `limit`.
  [[nodiscard]] Seconds earliest_gang(PoolState& pool, const MachineRange& range,
                                      const Option& option, Seconds from, Seconds limit) const;
  [[nodiscard]] Seconds gang_lower_bound(PoolState& pool, const MachineRange& range,
                                         const Option& option, Seconds from, Seconds limit) const;
  void raise_earliest(PoolState& pool, std::size_t row, std::size_t machine, const TaskGroup& group,
                      Seconds until) const;
  [[nodiscard]] Seconds next_change(const MachineRange& range, Seconds time) const;
  /// Assigns up to `left` tasks on the machine of `first`, and takes what they need of its room.
  std::int32_t assign_some(TaskShare first, const TaskGroup& group, std::int32_t left,
                           MachineRoom& room, std::vector<TaskShare>& shares) const;
  std::int32_t assign_shares(TaskShare one, const TaskGroup& group, std::int32_t most,
                             SharedGpus& shared, std::vector<TaskShare>& shares) const;
  struct MachineStart {
    std::size_t machine = 0;
    Seconds start = kNever;
  };
  /// True for one task that leaves GPUs of its machine to others.
  [[nodiscard]] static bool shares_a_machine(const PoolState& pool,
                                             std::span<const TaskGroup> tasks);
  /// Of the machines where such a job can start in start .. latest, the one whose other jobs end
  /// nearest to its own end; none for other jobs. O(machines) with an O(1) test for full ones.
  [[nodiscard]] std::optional<MachineStart> nearest_in_time(PoolState& pool, const Option& option,
                                                            Seconds start, Seconds latest,
                                                            double delay_weight) const;
  /// Assigns all tasks at `start` within the range; false when they do not fit. Appends shares only
  /// then.
  bool assign_tasks(const PoolState& pool, const MachineRange& range, const Option& option,
                    Seconds start, std::vector<TaskShare>& shares) const;
  bool assign_within(const PoolState& pool, const MachineRange& range, const Option& option,
                     Seconds start, PlaceRoom& places, std::vector<TaskShare>& shares) const;
  /// Takes (sign 1) or returns (-1) the GPUs of the shares.
  void change_all(PoolState& pool, const Option& option, Seconds start,
                  std::span<const TaskShare> shares, int sign);
  void change(PoolState& pool, MachineId machine, Seconds from, Seconds to, Gpus gpus);
  void change_share(PoolState& pool, const TaskShare& share, Seconds from, Seconds to, Gpus milli);
  void forget_starts(PoolState& pool, MachineId machine, Seconds from) const;
  [[nodiscard]] Gpus quota_gpus(const Option& option) const {
    return unit_ * option.gpus + option.share_milli;
  }

  const Problem& problem_;
  std::vector<PoolState> pools_;
  MachineRooms machines_;
  Gpus unit_;                              ///< of a GPU in quotas: 1000 where tasks have shares
  std::vector<CapacityProfile> quotas_;    ///< GPUs left, by quota
  std::vector<CapacityProfile> licenses_;  ///< licenses left, by license
};

/// Gives every share its GPUs: jobs in order of their start take the lowest free ones of each
/// machine. Enough are free because no machine is over-full at any moment.
/// O(shares log shares + outages).
void assign_devices(const Problem& problem, Plan& plan);

}  // namespace berth::horizon
