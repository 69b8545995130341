// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/option_table.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/model/room.hpp"
#include "berth/solver/market.hpp"

namespace berth::solver::assignment {

/// The machines a planner may edit, by pool, with their free room: turns an option (type, width,
/// domain) into devices.
class FreePools {
 public:
  /// @param machines  ascending
  FreePools(const model::Instance& instance, const PoolIndex& pool_index, model::Room& room,
            std::span<const MachineId> machines);

  /// Places the job in the cheapest place of the set with room, the fullest first among equals.
  /// Counters can mislead (8 free GPUs on 8 machines): then the next place is tried. nullopt: none.
  /// @param prices  by PoolId; empty: all places cost the same
  std::optional<model::JobPlacement> place(JobId job, const TaskDemand& profile,
                                           const PlaceClass& place_class,
                                           std::span<const double> prices);

  void take(const model::JobPlacement& placement);
  /// Counts a placement that took its room directly.
  void count_taken(const model::JobPlacement& placement) { count(placement, -1); }
  void release(const model::JobPlacement& placement);

  [[nodiscard]] Supply supply() const;
  [[nodiscard]] std::int64_t free_milli(std::int32_t pool) const {
    return free_[static_cast<std::size_t>(pool)];
  }
  [[nodiscard]] std::span<const MachineId> machines_of(std::int32_t pool) const;
  [[nodiscard]] std::span<const MachineId> cpu_machines() const { return cpu_machines_; }
  [[nodiscard]] std::span<const MachineId> machines() const { return all_machines_; }
  [[nodiscard]] model::Room& room() { return *room_; }
  [[nodiscard]] const PoolIndex& pool_index() const { return *pool_index_; }
  [[nodiscard]] const model::Instance& instance() const { return *instance_; }

 private:
  std::optional<model::JobPlacement> place_in_pool(JobId job, const TaskDemand& s,
                                                   const PlaceClass& place_class,
                                                   std::span<const double> prices);
  std::optional<model::JobPlacement> place_in_domain(JobId job, const TaskDemand& s,
                                                     const PlaceClass& place_class,
                                                     std::span<const double> prices);
  std::optional<model::JobPlacement> try_pool(JobId job, const TaskDemand& s, std::int32_t pool);
  std::optional<model::JobPlacement> try_domain(JobId job, const TaskDemand& s,
                                                std::span<const std::int32_t> run,
                                                model::Level width);
  void count(const model::JobPlacement& placement, int sign);
  [[nodiscard]] std::int64_t usable(MachineId m, const TaskDemand& s) const;

  const model::Instance* instance_;
  const PoolIndex* pool_index_;
  model::Room* room_;
  std::vector<MachineId> machines_;      ///< by pool, ascending inside
  std::vector<std::uint32_t> end_;       ///< by pool: one past its last entry of machines_
  std::vector<MachineId> all_machines_;  ///< ascending
  std::vector<MachineId> cpu_machines_;  ///< those without GPUs, ascending
  std::vector<std::int64_t> free_;       ///< by pool, GPU thousandths
};

}  // namespace berth::solver::assignment
