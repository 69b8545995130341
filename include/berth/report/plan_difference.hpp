// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::report {

/// Jobs by what becomes of them between two placements, each list ascending.
struct PlanDifference {
  std::vector<JobId> placed;   ///< in the second only
  std::vector<JobId> stopped;  ///< in the first only
  std::vector<JobId> moved;    ///< in both, some task on another machine or other devices
  std::vector<JobId> kept;     ///< in both, equal
};

/// O(tasks log tasks). Which of several equal tasks is where does not count.
PlanDifference difference(const model::Placement& before, const model::Placement& after);

/// Where the jobs that may move or stop run now, as a placement. O(running tasks)
model::Placement running_placement(const model::WorkloadTables& tables);

/// Machines of a job and the number of its tasks on each: "m1 x4, m2 x4", cut with "..." to `width`
/// characters. Printable.
std::string places(const model::Cluster& cluster, const model::JobPlacement& placed,
                   std::size_t width);
/// The same of a plan file, whatever the cluster is.
std::string places(const model::RawPlacement& placed, std::size_t width);

}  // namespace berth::report
