// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "berth/model/placement.hpp"
#include "berth/solver/occupancy.hpp"

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

/// The insertion of an unplaced job that costs the others least, as local search finds it (Glover
/// 1996); the loss is below the value of the job. Required jobs stay. None for a job of several
/// task groups that finds no free room, or of value 0. Does not change the state. O(machines x jobs
/// per machine) a type and level.
std::optional<MadeRoom> make_room(Occupancy& state, JobId job);

}  // namespace berth::solver
