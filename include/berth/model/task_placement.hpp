// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "berth/base/strong_id.hpp"

namespace berth::model {

/// One task on one machine: its devices and the thousandths that it takes of each.
struct TaskPlacement {
  MachineId machine;
  std::uint32_t group = 0;    ///< index among the job's task groups
  std::uint64_t devices = 0;  ///< bit i = device i of the machine; 0 for a CPU-only task
  std::int32_t milli = 0;     ///< taken of each device: 1000, or share_taken; CPU-only tasks: 0

  auto operator<=>(const TaskPlacement&) const = default;
};

template <class Archive>
void describe(Archive& archive, TaskPlacement& task) {
  archive(task.machine, task.group, task.devices, task.milli);
}

}  // namespace berth::model
