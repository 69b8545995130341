// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::exact {

/// Keys of machines, racks and of the whole free room: equal keys mean interchangeable ones.
/// Distinguished by id are: machines where a job runs now, racks and pods that are a job's home,
/// and all racks and pods when these have limits. 64-bit hashes.
class MachineSymmetry {
 public:
  MachineSymmetry(const Occupancy& occupancy, std::span<const JobId> jobs);

  /// Of the machine's class, free devices and free resources.
  [[nodiscard]] std::uint64_t machine_key(const Occupancy& occupancy, MachineId machine) const;
  /// Of a multiset of machines of one rack.
  [[nodiscard]] std::uint64_t rack_key(RackId rack, std::vector<std::uint64_t> machines) const;
  /// By RackId: of all machines of the rack. O(machines log machines)
  [[nodiscard]] std::vector<std::uint64_t> rack_keys(const Occupancy& occupancy) const;
  /// Of the room of all machines and the use of limits. O(machines log machines).
  [[nodiscard]] std::uint64_t state_key(const Occupancy& occupancy) const;

 private:
  std::vector<std::uint64_t> machine_mark_;  ///< by MachineId
  std::vector<std::uint64_t> rack_mark_;     ///< by RackId
  std::vector<std::uint64_t> pod_mark_;      ///< by PodId
  bool rules_ = false;                       ///< rules of some job concern others
};

}  // namespace berth::solver::exact
