// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/task_placement.hpp"

namespace berth::sim {

/// What every device carries, counted apart from the free room that policies see.
class DeviceLedger {
 public:
  explicit DeviceLedger(const model::Cluster& cluster) {
    first_.reserve(cluster.machines() + 1);
    std::size_t devices = 0;
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      first_.push_back(devices);
      devices += static_cast<std::size_t>(cluster.class_of(MachineId(m)).gpus);
    }
    first_.push_back(devices);
    used_.resize(devices);
  }

  /// Adds the tasks, or removes them when the sign is -1.
  void edit(std::span<const model::TaskPlacement> tasks, int sign) {
    for (const model::TaskPlacement& task : tasks) {
      const std::size_t m = task.machine.index();
      for (std::uint64_t rest = task.devices; rest != 0; rest &= rest - 1) {
        const std::size_t device = first_[m] + static_cast<std::size_t>(std::countr_zero(rest));
        BERTH_ASSERT(device < first_[m + 1]);
        used_[device] += sign * task.milli;
        BERTH_ASSERT(used_[device] >= 0 && used_[device] <= model::kGpuMilli);
      }
    }
  }

 private:
  std::vector<std::size_t> first_;  ///< by MachineId: its first device, and one past the last
  std::vector<std::int32_t> used_;  ///< thousandths by device
};

}  // namespace berth::sim
