// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/free_machine.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/fragmentation.hpp"
#include "berth/planner_model/limit_usage.hpp"

namespace berth::planner_model {

/// Free capacity of the machines of a cluster, or of some of them. Memory: about 195 bytes for each
/// held machine, 256 for each page of 64 ids that has one, 4 for each page between the lowest and
/// the highest of them. Copyable: a trial works on a copy. Different threads may edit different
/// machines, but not one machine.
///
/// Jobs whose rules concern others (`exclusive`, `labels`, `not_with`) are also known by machine: a
/// machine of an exclusive job has no room for others.
class Room {
 public:
  /// All machines, with their immovable content only.
  explicit Room(const model::Cluster& cluster);
  /// These machines, with their immovable content only; queries must name one of them.
  /// @pre distinct machines
  Room(const model::Cluster& cluster, std::span<const MachineId> machines);

  /// Makes best fit keep fragmentation low; until then it looks at free GPUs and CPU alone.
  void keep_low(const Fragmentation& fragmentation) { fragmentation_ = fragmentation; }
  [[nodiscard]] const Fragmentation& fragmentation() const { return fragmentation_; }

  /// Position of a machine among those held, in the order given.
  [[nodiscard]] std::size_t slot(MachineId m) const { return slot_[entry(m.index() - first_)]; }
  [[nodiscard]] std::size_t size() const { return machines_.size(); }
  [[nodiscard]] const model::Cluster& cluster() const { return *cluster_; }

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
  [[nodiscard]] std::uint32_t version(MachineId m) const { return version_at(slot(m)); }
  [[nodiscard]] std::uint32_t version_at(std::size_t slot) const { return version_[slot]; }

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

  /// A job on a machine whose rules concern others.
  struct RuledJob {
    JobId job;
    std::uint32_t rules;  ///< row of WorkloadTables::rules
    auto operator<=>(const RuledJob&) const = default;
  };

  [[nodiscard]] bool holds(MachineId m) const {
    const std::size_t at = m.index() - first_;  // wraps around below the lowest
    return at / kPage < page_.size() && slot_[entry(at)] != kNotHeld;
  }
  /// Records that pinned jobs with rules run on machines that it holds.
  void add_pinned(const model::WorkloadTables& tables);
  /// Records that the job is on these machines once its tasks are taken; no effect on jobs whose
  /// rules concern nobody, and when it is known.
  void enter(const model::WorkloadTables& tables, const RuledJob& job, MachineId m);
  void leave(JobId job, MachineId m);
  /// True when rules admit a job beside those on the machine. @param rules  of an unplaced job
  [[nodiscard]] bool admits(const model::WorkloadTables& tables, std::uint32_t rules,
                            MachineId m) const;
  /// False when no job with rules is or was on any machine.
  [[nodiscard]] bool has_rules() const { return !ruled_jobs_.empty(); }
  /// Jobs with rules on the machine, ascending.
  [[nodiscard]] std::span<const RuledJob> ruled_jobs(MachineId m) const {
    if (ruled_jobs_.empty()) return {};
    return ruled_jobs_[slot(m)];
  }
  /// Number of tasks on the machine, pinned ones included.
  [[nodiscard]] std::uint32_t tasks(MachineId m) const { return tasks_[slot(m)]; }
  /// What the machine would have left if no job on it were exclusive.
  [[nodiscard]] const model::FreeMachine& shared(MachineId m) const;

 private:
  static constexpr std::uint32_t kNotHeld = ~std::uint32_t{0};
  static constexpr std::size_t kPage = 64;  ///< ids; pods of a shard may lie far apart
  [[nodiscard]] std::size_t entry(std::size_t at) const { return page_[at / kPage] + at % kPage; }
  void reopen(MachineId m);

  const model::Cluster* cluster_;
  std::size_t first_ = 0;                     ///< the lowest machine held
  std::vector<std::uint32_t> page_;           ///< by (machine - first_) / kPage: start in slot_
  std::vector<std::uint32_t> slot_;           ///< by page; the first page holds no machine
  std::vector<model::FreeMachine> machines_;  ///< by slot
  std::vector<std::uint32_t> version_;        ///< by slot
  std::vector<std::uint32_t> tasks_;          ///< by slot
  std::vector<std::vector<RuledJob>> ruled_jobs_;  ///< by slot; empty: none on any machine so far
  /// By slot: content of the machines of exclusive jobs, which are closed in `machines_`.
  std::map<std::size_t, model::FreeMachine> closed_;
  Fragmentation fragmentation_;
};

/// Key of best fit: free GPU thousandths, free CPU, id; the least comes first.
using Tightness = std::tuple<std::int64_t, std::int64_t, MachineId>;
inline Tightness tightness(const Room& room, MachineId m) {
  return {room.free_milli(m), room.free_cpu(m), m};
}

/// Records the job on the machines of a placement whose tasks are taken.
void enter(Room& room, const model::WorkloadView& workload, const model::JobPlacement& placement);

/// Takes or gives back all tasks of a job on machines that the room holds.
void take(Room& room, const model::WorkloadView& workload, const model::JobPlacement& placement);
void release(Room& room, const model::WorkloadView& workload, const model::JobPlacement& placement);

/// True when rules admit the unplaced job beside those on the machines of the placement.
bool admits(const Room& room, const model::WorkloadView& workload,
            const model::JobPlacement& placement);

/// True when devices and resources of all tasks are free, and rules admit the job. Leaves the room
/// unchanged.
bool is_free(Room& room, const model::WorkloadView& workload, const model::JobPlacement& placement);

/// Places all tasks of the job on machines of `candidates`, or changes nothing (best fit). Groups
/// with the most GPUs per task come first; each task is placed on the machine whose fragmentation
/// grows least, where any grows, then with the least free GPU thousandths, then least free CPU,
/// then lowest id, as far as rules allow. A job with `domain == Level::machine` is placed on one
/// machine. O(groups x candidates x devices + tasks log candidates), and 16 times that with
/// fragmentation.
/// @param candidates  machines of one GPU type inside one domain that the job may use
/// @param limits      no rack or pod gets more tasks than its limits on resources leave room for;
///                    null: there are none
std::optional<model::JobPlacement> place_job(Room& room, const model::WorkloadView& workload,
                                             JobId job, std::span<const MachineId> candidates,
                                             const LimitUsage* limits = nullptr);

}  // namespace berth::planner_model
