// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "occupancy/search_state.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

/// Lower bound on the cost of room for a first task on this machine: the knapsack of its occupants
/// in the order of eviction, the last one in part; infinity if no eviction suffices. Ignores
/// resources other than GPUs and the devices of occupants. O(occupants)
/// @param milli  GPU thousandths of the task
/// @param gone   jobs that leave in any case, at no cost here; ascending
double least_cost(const SearchState auto& state, MachineId machine, std::int64_t milli,
                  std::span<const JobId> gone = {}) {
  const auto leaves = [&](const Occupant& r) { return std::ranges::binary_search(gone, r.job); };
  std::int64_t need = milli - state.room().shared(machine).milli();
  for (const Occupant& r : state.occupants(machine)) {
    if (leaves(r)) need -= r.milli;
  }
  double cost = 0.0;
  for (const Occupant& r : state.occupants(machine)) {
    if (need <= 0) return cost;
    if (!r.evictable || r.milli == 0 || leaves(r)) continue;
    const auto part = static_cast<double>(std::min(need, r.milli)) / static_cast<double>(r.milli);
    cost += r.value > 0.0 ? part * r.value : r.value;  // a gain counts in full
    need -= r.milli;
  }
  return need <= 0 ? cost : std::numeric_limits<double>::infinity();
}

/// The machines of each domain by ascending bound on the cost of a task: a search for the cheapest
/// ones ends where the bound passes the costs of those it has found. Keeps 16 bytes for each
/// machine, level of domains and size of task that was asked for. Not for several threads at once.
class MachinesByCost {
 public:
  struct Entry {
    double least = 0.0;  ///< see `least_cost`
    MachineId machine;
  };

  /// @pre the occupancy does not change while this is used
  explicit MachinesByCost(const Occupancy& occupancy) : occupancy_(occupancy) {}

  /// Ascending by bound, then by machine. O(machines log machines) once
  /// @param milli  GPU thousandths of a task
  std::span<const Entry> of(const Domain& domain, std::int64_t milli);

 private:
  const Occupancy& occupancy_;
  std::map<std::pair<const Domain*, std::int64_t>, std::vector<Entry>> orders_;
};

}  // namespace berth::solver::local_search
