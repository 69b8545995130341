// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "berth/horizon/problem.hpp"

namespace berth::horizon {

/// Counts the tasks of one option by machine, rack and pod while they are assigned, within its
/// TaskSpread.
class SpreadCount {
 public:
  SpreadCount(const Problem& problem, const Option& option);

  /// Most further tasks on the machine, so that enough are left for the domains still missing.
  [[nodiscard]] Gpus most_on(MachineId machine) const;
  void add(MachineId machine, Gpus tasks);
  /// True when all tasks are added, in enough domains.
  [[nodiscard]] bool complete() const;

 private:
  [[nodiscard]] std::array<std::int32_t, 3> domains_of(MachineId machine) const;

  const Problem& problem_;
  const TaskSpread* spread_ = nullptr;                      ///< null: any
  Gpus left_ = 0;                                           ///< tasks
  std::array<std::map<std::int32_t, Gpus>, 3> tasks_ = {};  ///< by level and domain
};

}  // namespace berth::horizon
