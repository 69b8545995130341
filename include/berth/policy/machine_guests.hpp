// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/placement_rules.hpp"

namespace berth::policy {

/// Tasks of a job that no policy moves, which count as another job for rules about machines.
struct FixedTasks {
  MachineId machine;
  std::uint32_t rules = 0;  ///< row of MachineRules::rows
};

/// Rules of jobs about their machines.
struct MachineRules {
  std::vector<model::PlacementRules> rows;  ///< by Demand::rules, row 0 has none; empty: no rules
  std::vector<FixedTasks> fixed = {};
};

/// Which rules the jobs on each machine have: these say which other jobs may start there. Costs
/// nothing while no job's rules concern others. @pre the rows outlive it
class MachineGuests {
 public:
  MachineGuests() = default;
  MachineGuests(std::size_t machines, const MachineRules& rules);

  [[nodiscard]] bool any() const { return !on_.empty(); }  ///< rules concern other jobs
  /// True when a job with these rules, which is not there yet, may start tasks on the machine.
  [[nodiscard]] bool admits(MachineId machine, std::uint32_t rules) const {
    return on_.empty() || admits_beside(on_[machine.index()], rules);
  }
  /// One task more on the machine, or one less when the sign is -1.
  void edit(MachineId machine, std::uint32_t rules, int sign);

 private:
  /// Tasks of jobs with equal rules.
  struct Guests {
    std::uint32_t rules = 0;
    std::int32_t tasks = 0;
  };
  [[nodiscard]] bool admits_beside(std::span<const Guests> guests, std::uint32_t rules) const;

  std::span<const model::PlacementRules> rows_;
  std::vector<std::vector<Guests>> on_;  ///< by MachineId; empty: no rules concern others
};

}  // namespace berth::policy
