// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/model/workload.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {

/// How many tasks of a shape the free room of each domain holds, and on which machines, so that
/// searches for many jobs skip those without room. Counts are made at the first question about a
/// shape: exact while the room stays as it was then, upper bounds while it shrinks. Machines whose
/// room has grown since are named by the caller.
class FreeTaskCounts {
 public:
  /// Tasks of one shape in the free room of one domain: alone, each group by itself.
  struct Count {
    std::int64_t together = 0;  ///< on all its machines
    std::int64_t on_one = 0;    ///< on the best of its machines
  };

  explicit FreeTaskCounts(const Occupancy& state) : state_(state) {}

  /// By domain of `state.index().domains(type, level)`. O(machines of the type) once a shape and
  /// type
  std::span<const Count> of(ShapeId shape, GpuTypeId type, model::Level level);

  /// Makes the counts for all tasks of the job now, before any room grows.
  void prepare(const model::Job& job);

  /// Those of the domains that may hold all tasks of the job, in their order; no other one has room
  /// for it.
  /// @param domains  consecutive ones of `state.index().domains(type, level)`
  /// @param freed    machines whose room may be larger than it was, ascending
  /// O(groups x (domains + freed log machines)); without `domains` where no domain has room
  std::vector<const Domain*> holders(const model::Job& job, GpuTypeId type,
                                     std::span<const Domain> domains,
                                     std::span<const MachineId> freed = {});

  /// Machines of the domain, ascending, such that best fit places the job on them as on all of
  /// them.
  /// @param type     GPU type of the domain's list
  /// @param changed  machines whose room may be another than it was, ascending
  std::vector<MachineId> roomy_machines(JobId job, GpuTypeId type, const Domain& domain,
                                        std::span<const MachineId> changed);

 private:
  struct Counts {
    std::vector<Count> by_domain;
    Count most;  ///< of any domain
  };
  struct MachineCount {
    MachineId machine;
    std::int64_t tasks;  ///< > 0
    planner_model::Tightness tightness;
  };
  struct Room {
    std::vector<MachineCount> machines;  ///< ascending
    std::vector<MachineCount> tightest;  ///< first; empty until it is asked for
    std::array<Counts, 3> by_level;      ///< racks, pods, cluster
  };
  struct Demand;
  Room& room(ShapeId shape, GpuTypeId type);
  static std::vector<MachineId> tightest_machines(Room& room, const Domain& domain,
                                                  std::int64_t tasks,
                                                  std::span<const MachineId> changed);
  const Counts& counts(ShapeId shape, GpuTypeId type, model::Level level);
  [[nodiscard]] Count count(const model::Shape& shape, std::span<const MachineId> machines) const;
  [[nodiscard]] bool fits_by_tightness(const model::Job& job) const;

  const Occupancy& state_;
  std::map<std::pair<ShapeId, GpuTypeId>, Room> known_;
};

}  // namespace berth::solver
