// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::pipeline {

/// Racks in which gangs of some kind fit that are worth more within one of these racks, or one of
/// their pods, than spread further.
struct RackSet {
  GpuTypeId type;
  std::vector<RackId> racks;  ///< ascending, not empty
};

/// True when racks or pods differ in what immovable content and machines that are not up leave of
/// them, so that some may hold a gang and others not. Asks the cluster alone. O(machines)
bool racks_differ(const model::Cluster& cluster);

/// The sets in which fewer gangs fit than would like to be there, and that have at most half of the
/// machines of their type: beyond, a price of the type says nearly as much. At most 8, of the most
/// GPUs that are asked for; in no set twice the same racks. Content that may move counts as room.
/// O(kinds of gangs x machines) @pre the instance has the records of all jobs
std::vector<RackSet> scarce_racks(const planner_model::Valuation& valuation);

}  // namespace berth::pipeline
