// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/free_machine.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/limit_usage.hpp"

namespace berth::planner_model {

/// Free capacity of the machines of a cluster, or of some of them. Memory: about 195 bytes for each
/// held machine and 4 for each id between the lowest and the highest of them. Copyable: a trial
/// works on a copy. Different threads may edit different machines, but not one machine.
class Room {
 public:
  /// All machines, with their immovable content only.
  explicit Room(const model::Cluster& cluster);
  /// These machines, with their immovable content only; queries must name one of them.
  /// @pre distinct machines
  Room(const model::Cluster& cluster, std::span<const MachineId> machines);

  /// Position of a machine among those held, in the order given.
  [[nodiscard]] std::size_t slot(MachineId m) const { return slot_[m.index() - first_]; }
  [[nodiscard]] std::size_t size() const { return machines_.size(); }

  [[nodiscard]] const model::FreeMachine& operator[](MachineId m) const {
    return machines_[slot(m)];
  }
  [[nodiscard]] std::int64_t free_cpu(MachineId m) const { return (*this)[m].cpu(); }
  [[nodiscard]] const model::Resources& free_resources(MachineId m) const {
    return (*this)[m].resources();
  }
  [[nodiscard]] std::uint64_t whole_devices(MachineId m) const { return (*this)[m].whole(); }
  [[nodiscard]] int whole_count(MachineId m) const { return (*this)[m].whole_count(); }
  [[nodiscard]] std::int64_t free_milli(MachineId m) const { return (*this)[m].milli(); }
  /// Free thousandths of each device, 0..1000.
  [[nodiscard]] std::span<const std::int16_t> devices(MachineId m) const {
    return (*this)[m].devices();
  }
  /// Number of edits of this machine: equal versions mean equal content.
  [[nodiscard]] std::uint32_t version(MachineId m) const { return version_[slot(m)]; }

  /// True when one task of the shape fits now; the caller checks the GPU type. O(1) for whole
  /// devices, O(devices) for a share.
  [[nodiscard]] bool fits(MachineId m, const model::Shape& shape) const {
    return (*this)[m].fits(shape);
  }

  /// True when these devices and the resources of the task are free now. O(devices)
  [[nodiscard]] bool fits(const model::TaskPlacement& task, const model::Shape& shape) const {
    return (*this)[task.machine].fits({.machine = task.machine,
                                       .devices = task.devices,
                                       .milli = task.milli,
                                       .taken = shape.needs});
  }

  /// Number of tasks of the shape that fit now, at most `limit`. O(devices).
  [[nodiscard]] std::int64_t count(MachineId m, const model::Shape& shape,
                                   std::int64_t limit) const {
    return (*this)[m].count(shape, limit);
  }

  /// Places one task on the devices that FreeMachine::choose selects. @pre fits(m, shape)
  model::TaskPlacement take(MachineId m, std::uint32_t group, const model::Shape& shape);

  /// Takes the devices of a placed task (replay of a committed placement). @pre they are free
  void take(const model::TaskPlacement& task, const model::Shape& shape);

  /// Gives back the capacity of a placed task.
  void release(const model::TaskPlacement& task, const model::Shape& shape);

 private:
  std::size_t first_ = 0;                     ///< the lowest machine held
  std::vector<std::uint32_t> slot_;           ///< by machine - first_; past the end: not held
  std::vector<model::FreeMachine> machines_;  ///< by slot
  std::vector<std::uint32_t> version_;        ///< by slot
};

/// Takes or gives back all tasks of a job.
void take(Room& room, const model::WorkloadView& workload, const model::JobPlacement& placement);
void release(Room& room, const model::WorkloadView& workload, const model::JobPlacement& placement);

/// True when devices and resources of all tasks are free. Leaves the room unchanged.
bool is_free(Room& room, const model::WorkloadView& workload, const model::JobPlacement& placement);

/// Places all tasks of the job on machines of `candidates`, or changes nothing (best fit). Groups
/// with the most GPUs per task come first; each task is placed on the machine with the least free
/// GPU thousandths, then least free CPU, then lowest id. A job with `domain == Level::machine` is
/// placed on one machine. O(groups x candidates x devices + tasks).
/// @param candidates  machines of one GPU type inside one domain that the job may use
/// @param limits      no rack or pod gets more tasks than its limits on resources leave room for;
///                    null: there are none
std::optional<model::JobPlacement> place_job(Room& room, const model::WorkloadView& workload,
                                             JobId job, std::span<const MachineId> candidates,
                                             const LimitUsage* limits = nullptr);

}  // namespace berth::planner_model
