// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/option_table.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "berth/solver/market.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::assignment {

class PresentPlaces;

/// Some machines by pool.
class PoolMachines {
 public:
  PoolMachines(const PoolIndex& pool_index, std::span<const MachineId> machines);

  /// Machines of a pool, ascending.
  [[nodiscard]] std::span<const MachineId> of(std::int32_t pool) const;
  [[nodiscard]] std::span<const MachineId> all() const { return machines_; }

 private:
  std::vector<MachineId> machines_;  ///< by pool, ascending inside
  std::vector<std::uint32_t> end_;   ///< by pool: one past its last entry of machines_
};

/// The machines of an occupancy by pool, with the free GPUs of each pool. Places jobs on devices of
/// a place class (type, width, domain).
class FreePools {
 public:
  /// @pre no other code edits the occupancy between calls of `place`
  FreePools(const PoolIndex& pool_index, Occupancy& occupancy);

  /// Places the job in the cheapest place of the class with room; ties: the fullest place. Counters
  /// of free GPUs are necessary only (8 free GPUs may be on 8 machines), so the next place is tried
  /// on failure. False: no place has room.
  /// @param prices  by PoolId, value per GPU; empty: all places have equal prices
  bool place(JobId job, const TaskDemand& profile, const PlaceClass& place_class,
             std::span<const double> prices);

  /// From now on jobs are placed at the least loss of running jobs, which return to their places
  /// where they can. @param present  of the same occupancy; must outlive this object
  void prefer(PresentPlaces& present) { present_ = &present; }

  /// Supply of the free room.
  [[nodiscard]] Supply supply() const;
  [[nodiscard]] std::int64_t free_milli(std::int32_t pool) const {
    return free_[static_cast<std::size_t>(pool)];
  }
  [[nodiscard]] const PoolMachines& machines() const { return machines_; }

 private:
  bool place_in_pool(JobId job, const TaskDemand& s, const PlaceClass& place_class,
                     std::span<const double> prices);
  bool place_in_domain(JobId job, const TaskDemand& s, const PlaceClass& place_class,
                       std::span<const double> prices);
  bool try_pool(JobId job, const TaskDemand& s, std::int32_t pool);
  bool try_domain(JobId job, const TaskDemand& s, std::span<const std::int32_t> run,
                  model::Level width);
  /// Least loss of running jobs, per thousandth of a price, if the job is placed in these pools.
  [[nodiscard]] double loss_in(JobId job, const TaskDemand& s, std::span<const std::int32_t> run,
                               model::Level width) const;
  bool try_machines(JobId job, std::span<const MachineId> machines);
  void take(model::JobPlacement placement);
  [[nodiscard]] std::int64_t usable(MachineId m, const TaskDemand& s) const;

  const PoolIndex* pool_index_;
  Occupancy* occupancy_;
  PresentPlaces* present_ = nullptr;  ///< null: no job runs
  PoolMachines machines_;
  std::vector<MachineId> cpu_machines_;  ///< machines without GPUs, ascending
  std::vector<std::int64_t> free_;       ///< by pool, GPU thousandths
};

}  // namespace berth::solver::assignment
