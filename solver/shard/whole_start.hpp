// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "berth/base/stop.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {

/// Number of placed required jobs, and value less surcharges.
std::pair<int, double> whole_score(const Occupancy& occupancy);

/// All planned jobs, unplaced, on the whole cluster. @param limits  null: none
Occupancy without_placements(const planner_model::Valuation& valuation,
                             const planner_model::CouplingLimits* limits);

/// The best plan of the whole cluster among several starts.
class BestStart {
 public:
  /// @param placement  of all jobs that are not pinned, ascending; the first plan
  BestStart(const Occupancy& empty, const model::Placement& placement);

  /// Fills what a start leaves and improves the result, unless it is far below the best one; keeps
  /// it as the best one if it is better.
  void offer(Occupancy start, const PricedPools& pools, const SearchEffort& effort,
             const StopToken& stop);

  /// Writes the best plan to `placement` if it is better than the first one.
  /// @return the value gained
  double write(model::Placement& placement) const;

 private:
  Occupancy best_;
  double search_gain_;  ///< share of the value that a start may be below the best one
  std::pair<int, double> first_;
};

}  // namespace berth::solver
