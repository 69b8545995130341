// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exact/machine_symmetry.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "berth/model/domain_task_counts.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::exact {

/// The placements of a job on the present room, one of each set of interchangeable ones.
class PlacementEnumerator {
 public:
  struct ValuedPlacement {
    double value = 0.0;  ///< less surcharges of soft limits
    model::JobPlacement placement;
  };

  /// @param most  placements kept of a job on one GPU type; more are not enumerated
  PlacementEnumerator(Occupancy& occupancy, const MachineSymmetry& symmetry, std::size_t most)
      : occupancy_(occupancy), symmetry_(symmetry), most_(most) {}

  /// By descending value; equal ones fill the fullest machines first. Does not change the
  /// occupancy.
  std::vector<ValuedPlacement> placements(JobId job);
  [[nodiscard]] bool is_complete() const { return complete_; }  ///< no job had more than `most`

 private:
  struct MachineSlot {
    MachineId machine;
    std::uint64_t key = 0;
    std::size_t rack_first = 0;  ///< index of the first slot of its rack
    std::ptrdiff_t twin = -1;    ///< the slot at this position in an equal rack before; -1: none
  };

  void enumerate_on(GpuTypeId type);
  /// Places the tasks of groups [group, ..) of the job, the first `left` of `group` from slot `at`.
  void place_from(std::size_t group, std::int64_t left, std::size_t at, bool twins_equal);
  void next_group(std::size_t group);
  void finish();
  [[nodiscard]] double net_value(const model::JobPlacement& placement) const;  ///< less surcharges
  [[nodiscard]] bool is_within_domain(MachineId machine) const;
  /// GPU tasks are placed on `type_`, other tasks where the model allows them.
  [[nodiscard]] bool allows_type(const model::Shape& shape, MachineId machine) const;
  void order_slots();

  Occupancy& occupancy_;
  const MachineSymmetry& symmetry_;
  std::size_t most_;
  bool complete_ = true;

  const model::Job* job_ = nullptr;
  GpuTypeId type_;  ///< of the job's GPU tasks
  double surcharge_ = 0.0;
  std::vector<MachineId> candidates_;
  std::optional<model::DomainTaskCounts> domain_counts_;  ///< of the partial placement
  std::vector<MachineSlot> slots_;                        ///< of the group being placed
  std::vector<std::int64_t> counts_;  ///< by slot: tasks of the group being placed
  model::JobPlacement partial_;
  std::size_t found_on_type_ = 0;
  std::vector<ValuedPlacement> found_;
};

}  // namespace berth::solver::exact
