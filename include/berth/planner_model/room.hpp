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

namespace berth::planner_model {

/// Free capacity of the machines of a cluster, or of some of them: about 195 bytes for each that is
/// held and 4 for each that is not but lies between two that are. Copyable, so a trial works on a
/// copy. Not thread-safe per machine; different machines may be edited by different threads.
class Room {
 public:
  /// All machines, holding what no plan moves and nothing else.
  explicit Room(const model::Cluster& cluster);
  /// The same of these machines; no other may be asked for. @pre distinct
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
  /// Number of edits of this machine so far: equal versions mean equal content.
  [[nodiscard]] std::uint32_t version(MachineId m) const { return version_[slot(m)]; }

  /// True when one task of the shape fits now. GPU type is the caller's business. O(1) for whole
  /// devices, O(devices) for a share.
  [[nodiscard]] bool fits(MachineId m, const model::Shape& shape) const {
    return (*this)[m].fits(shape);
  }

  /// How many tasks of the shape fit now, at most `limit`. O(devices).
  [[nodiscard]] std::int64_t count(MachineId m, const model::Shape& shape,
                                   std::int64_t limit) const {
    return (*this)[m].count(shape, limit);
  }

  /// Places one task on devices chosen as FreeMachine::choose says. @pre fits(m, shape)
  model::TaskPlacement take(MachineId m, std::uint32_t group, const model::Shape& shape);

  /// Takes exactly these devices (replay of a committed placement). @pre they are free
  void take(const model::TaskPlacement& task, const model::Shape& shape);

  /// Gives back what `take` took.
  void release(const model::TaskPlacement& task, const model::Shape& shape);

 private:
  std::size_t first_ = 0;            ///< the lowest machine held
  std::vector<std::uint32_t> slot_;  ///< from there to the highest; past the end when not held
  std::vector<model::FreeMachine> machines_;  ///< by slot
  std::vector<std::uint32_t> version_;        ///< by slot
};

/// Takes or gives back all tasks of a job.
void take(Room& room, const model::Workload& workload, const model::JobPlacement& placement);
void release(Room& room, const model::Workload& workload, const model::JobPlacement& placement);

/// Places all tasks of the job on machines out of `candidates` (all of GPU type `type`, or any
/// machine for a CPU-only job), or changes nothing. Groups with the most GPUs a task first; each
/// task on the machine it leaves fullest (least free GPU thousandths, then least free CPU, then
/// id). Does not look at the job's domain limit: the caller chose the candidates. For a job with
/// `domain == Level::machine` all tasks go on one machine.
/// O(groups x candidates x devices + tasks).
std::optional<model::JobPlacement> place_job(Room& room, const model::Workload& workload, JobId job,
                                             std::span<const MachineId> candidates);

}  // namespace berth::planner_model
