// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/option_table.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "berth/planner_model/room.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::assignment {

/// Present places of running jobs that a dive places anew. A running job returns to its place if
/// that lies in the place class chosen for it. Other jobs take room that no running job will
/// return to, else the room of those that lose least by a move.
///
/// Loss of a running job: min(move cost, value at the present place less the price of its GPUs
/// there), at least 0; a required job loses the move cost.
class PresentPlaces {
 public:
  /// @param jobs   unplaced jobs of the occupancy; those that pay for moves and run in free room of
  /// it
  ///               hold their places
  /// @param start  prices per GPU of the losses
  PresentPlaces(const Occupancy& occupancy, const PricedPools& start, std::span<const JobId> jobs);

  [[nodiscard]] bool empty() const { return held_.empty(); }

  /// The present place of a job, if it is inside the place class and still held.
  [[nodiscard]] std::optional<model::JobPlacement> in_class(JobId job,
                                                            const PlaceClass& place_class) const;
  /// Placement of an unplaced job on these machines, as `Occupancy::fit` requires them, at the
  /// least loss of running jobs for tasks of one shape; nullopt without enough room.
  std::optional<model::JobPlacement> fit(Occupancy& occupancy, JobId job,
                                         std::span<const MachineId> machines);
  /// Least loss of running jobs that makes room for a job of one task group on these machines;
  /// nullopt without enough room, and for jobs with rules or several groups. O(machines x holders
  /// log).
  [[nodiscard]] std::optional<double> least_loss(const Occupancy& occupancy, JobId job,
                                                 std::span<const MachineId> machines) const;
  /// Notes that the occupancy has taken this placement; jobs that held some of its room hold their
  /// places no longer.
  void take(const model::JobPlacement& placement);
  /// GPU thousandths of a machine that neither placed nor held jobs use.
  [[nodiscard]] std::int64_t free_milli(MachineId m) const { return room_.free_milli(m); }
  /// The job holds its place no longer.
  void release(JobId job);

 private:
  [[nodiscard]] bool may_share(JobId a, JobId b) const;
  /// Room for one more task of a job on a machine.
  struct TaskRoom {
    double loss;       ///< of the jobs that leave
    std::size_t rank;  ///< tasks of the job on this machine before
    MachineId machine;
    std::vector<JobId> leaving;
  };
  /// Machines that running jobs leave for a job.
  struct Clearing {
    double loss = 0.0;
    std::vector<MachineId> machines;  ///< ascending
    std::vector<JobId> leaving;
  };
  [[nodiscard]] std::optional<Clearing> least_clearing(const Occupancy& occupancy, JobId job,
                                                       std::span<const MachineId> machines) const;
  [[nodiscard]] double loss(const Occupancy& occupancy, const PricedPools& start,
                            const model::JobPlacement& present) const;
  void add_openings(MachineId machine, const model::Shape& shape, std::int64_t most,
                    std::vector<TaskRoom>& openings) const;
  std::optional<model::JobPlacement> fit_at_least_loss(const Occupancy& occupancy, JobId job,
                                                       std::span<const MachineId> machines);

  struct Held {
    double loss;
    std::vector<model::TaskPlacement> tasks;
  };
  model::WorkloadView workload_;
  const model::Cluster* cluster_;
  planner_model::Room room_;  ///< left by placed jobs and by held places
  std::map<JobId, Held> held_;
  std::vector<std::vector<JobId>> on_machine_;  ///< by slot: jobs that hold places, by loss
};

}  // namespace berth::solver::assignment
