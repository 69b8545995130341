// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "occupancy/search_state.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "berth/model/placement.hpp"

namespace berth::solver::local_search {

/// Machines of what `for_each` visits, ascending, each once. O(tasks log tasks)
/// @param for_each  calls its argument with tasks
std::vector<MachineId> distinct_machines(const auto& for_each) {
  std::vector<MachineId> machines;
  for_each([&](std::span<const model::TaskPlacement> tasks) {
    for (const model::TaskPlacement& t : tasks) machines.push_back(t.machine);
  });
  std::ranges::sort(machines);
  machines.erase(std::unique(machines.begin(), machines.end()), machines.end());
  return machines;
}

/// The machines of these tasks, ascending, each once.
inline std::vector<MachineId> machines_of(std::span<const model::TaskPlacement> tasks) {
  return distinct_machines([&](const auto& add) { add(tasks); });
}

/// The machines of these placements, ascending, each once.
inline std::vector<MachineId> machines_of(const model::Placement& placed) {
  return distinct_machines([&](const auto& add) {
    for (const model::JobPlacement& p : placed) add(p.tasks);
  });
}

/// Machines that jobs left or were placed on by some edits of the state, ascending, each once.
/// @param changes  of `changes_since`
std::vector<MachineId> machines_of_changes(const SearchState auto& state, const auto& changes) {
  return distinct_machines([&](const auto& add) {
    for (const auto& c : changes) add(c.left.empty() ? state.placed(c.job).tasks : c.left);
  });
}

}  // namespace berth::solver::local_search
