// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_knapsack.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/model/resources.hpp"

namespace berth::certify {

/// Prices of one unit of each resource within a machine, >= 0; 0 for those that cannot bind.
using Multipliers = std::array<Int128, model::kResources>;

/// Lagrangian relaxation of the resources of a machine (Geoffrion 1974): an item earns its price
/// less the multipliers of its needs, only devices limit the items, and the machine earns the
/// multipliers of all that it has. Any multipliers give a bound on the prices in a content.
class RelaxedKnapsack {
 public:
  /// @param knapsack  must outlive this
  explicit RelaxedKnapsack(const MachineKnapsack& knapsack);

  /// O(items x devices + shares x steps of a device).
  void set(const Multipliers& multipliers);

  /// sum_r multiplier_r room_r + the most that items earn.
  [[nodiscard]] Int128 bound() const { return capacity_ + earned(); }
  [[nodiscard]] Int128 capacity() const { return capacity_; }

  [[nodiscard]] Int128 reduced(const MachineKnapsack::Item& item) const;
  /// Most that the first `kinds` tasks, and all shares, earn on so many whole devices.
  [[nodiscard]] Int128 on_devices(std::size_t kinds, std::size_t devices) const {
    return on_devices_[kinds * (knapsack_.whole() + 1) + devices];
  }
  /// Most that the first `kinds` shares earn on so many steps of one device.
  [[nodiscard]] Int128 on_steps(std::size_t kinds, std::size_t steps) const {
    return on_steps_[kinds * (knapsack_.width() + 1) + steps];
  }
  [[nodiscard]] Int128 on_steps(std::size_t steps) const {
    return on_steps(knapsack_.shares().size(), steps);
  }
  /// Most that the first `kinds` items without GPUs earn.
  [[nodiscard]] Int128 without_gpus(std::size_t kinds) const { return without_gpus_[kinds]; }
  /// Most that shares earn on devices that are partly free, without the first `devices` of them.
  [[nodiscard]] Int128 on_partly(std::size_t devices) const { return on_partly_[devices]; }

  /// A content that earns the most, whether or not the machine has what it needs.
  struct Content {
    Int128 price = 0;
    std::array<Int128, model::kResources> needs{};
    bool enough = true;  ///< the workload has so many copies of each task
  };
  [[nodiscard]] Content best() const;

 private:
  [[nodiscard]] Int128 earned() const;
  void add_shares(std::size_t steps, std::int64_t times, Content& content) const;

  const MachineKnapsack& knapsack_;
  Multipliers multipliers_{};
  Int128 capacity_ = 0;
  std::vector<Int128> on_devices_, on_steps_, on_partly_, without_gpus_;
};

}  // namespace berth::certify
