// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "berth/model/placement.hpp"
#include "berth/planner_model/task_profile.hpp"
#include "berth/solver/free_task_counts.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {
class EvictionCostBounds;
class GroupInsertions;
class KeptCostBounds;
class MachinesByCost;
}  // namespace berth::solver::local_search

namespace berth::solver {

/// Room for one job among others.
struct MadeRoom {
  model::JobPlacement placement;    ///< of the job
  model::Placement moved = {};      ///< others at their new places, ascending
  std::vector<JobId> stopped = {};  ///< others that wait instead, ascending
};

/// A placement of an unplaced job in free room within its domain and all limits: the first that
/// holds it of the racks, then the pods, then the cluster, by GPU type. Does not change the state.
/// O(machines) a type and level.
std::optional<model::JobPlacement> find_room(Occupancy& state, JobId job);

/// `find_room` for many jobs, while no room is given back: domains without room for some tasks are
/// not looked at again for equal tasks. All searches for equal tasks together are O(machines) and
/// a domain each; under limits of places they are as `find_room`.
class RoomSearch {
 public:
  /// @param counts  of the state, or null: skips domains without another result
  explicit RoomSearch(Occupancy& state, FreeTaskCounts* counts = nullptr);
  std::optional<model::JobPlacement> find(JobId job);

 private:
  using Tasks = std::tuple<planner_model::TaskProfile, std::uint64_t, model::Level>;
  std::optional<model::JobPlacement> find_in(JobId job, GpuTypeId type,
                                             std::span<const Domain> domains, std::size_t& passed);

  Occupancy& state_;
  FreeTaskCounts* counts_;
  bool remembers_;  ///< room depends on the tasks alone
  std::map<Tasks, std::size_t>
      passed_;  ///< by tasks, GPU types, domain: first domains without room
};

/// The insertion of an unplaced job that costs the others least, as local search finds it (Glover
/// 1996), also one of several task groups; the loss is below the value of the job. Required jobs
/// stay. None for a job of value 0. Does not change the state. O(machines x jobs per machine) a
/// type and level.
std::optional<MadeRoom> make_room(Occupancy& state, JobId job);

/// `make_room` for many jobs while the placed jobs stay as they are. From the second job on it
/// skips domains and machines whose jobs are worth more than the room found so far costs, without
/// another result. O(jobs log jobs) once, and O(machines log machines) a size of task.
class RoomMaker {
 public:
  /// @param counts  of the state, or null: skips domains without another result
  explicit RoomMaker(Occupancy& state, FreeTaskCounts* counts = nullptr);
  ~RoomMaker();
  RoomMaker(const RoomMaker&) = delete;
  RoomMaker& operator=(const RoomMaker&) = delete;
  std::optional<MadeRoom> make(JobId job);

 private:
  Occupancy& state_;
  FreeTaskCounts* counts_;
  bool asked_ = false;
  std::unique_ptr<local_search::EvictionCostBounds> costs_;  ///< null while not needed
  std::unique_ptr<local_search::KeptCostBounds> kept_;       ///< null while not needed
  std::unique_ptr<local_search::MachinesByCost> order_;      ///< null while not needed
  std::unique_ptr<local_search::GroupInsertions> groups_;  ///< null before a job of several groups
};

}  // namespace berth::solver
