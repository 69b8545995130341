// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/report/plan_tables.hpp"

namespace berth::report {

/// GPU thousandths and machines of a set of machines.
struct MachineUse {
  std::int64_t machines = 0;
  std::int64_t gpus = 0;     ///< devices
  std::int64_t closed = 0;   ///< thousandths that no job takes: the machine is not up
  std::int64_t pinned = 0;   ///< thousandths of content that no plan moves
  std::int64_t planned = 0;  ///< thousandths
  std::int64_t whole = 0;    ///< devices that are free entirely

  MachineUse& operator+=(const MachineUse& other) {
    machines += other.machines, gpus += other.gpus, closed += other.closed;
    pinned += other.pinned, planned += other.planned, whole += other.whole;
    return *this;
  }
  [[nodiscard]] std::int64_t free() const { return 1000 * gpus - closed - pinned - planned; }
};

/// The use of each machine, by MachineId. O(machines + tasks log tasks)
std::vector<MachineUse> machine_uses(const PlanContent& content);

}  // namespace berth::report
