// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/job.hpp"
#include "berth/planner_model/room.hpp"

namespace berth::solver {

/// Index of a GPU type in tables of values: 0 is for machines without GPUs.
inline std::size_t slot_of(GpuTypeId type) { return type.valid() ? type.index() + 1 : 0; }
/// The GPU type of a slot; invalid for slot 0.
inline GpuTypeId type_of_slot(std::size_t slot) {
  return slot == 0 ? GpuTypeId{} : GpuTypeId(slot - 1);
}

/// Machines with equal room; after rounding, with at least this room each.
struct BinType {
  std::size_t slot = 0;             ///< slot_of the machines' GPU type
  int whole = 0;                    ///< devices entirely free
  std::vector<int> partial;         ///< free thousandths of opened devices, descending, > 0
  model::Resources room = {};       ///< free amounts, kNoLimit where unlimited
  std::int32_t slices = 0;          ///< slices of each device, as in MachineClass
  std::vector<MachineId> machines;  ///< ascending

  [[nodiscard]] std::int64_t milli() const;  ///< free thousandths over all devices
  /// Thousandths that a share takes of a device here; 0 if the shape has no share.
  [[nodiscard]] std::int32_t share(const model::Shape& s) const {
    return model::share_taken(s.gpu_milli, slices);
  }
};

/// Groups the machines that are up into bin types, in order of their first machines.
/// O(machines log machines).
/// @param aim  with more bin types, free amounts are rounded down, in steps, to reach that number
std::vector<BinType> bin_types(const model::Cluster& cluster, const planner_model::Room& room,
                               std::span<const MachineId> machines, int aim);

}  // namespace berth::solver
