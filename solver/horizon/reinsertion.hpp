// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/list_planner.hpp"

#include <cstdint>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/base/stop.hpp"

namespace berth::solver::horizon_plan {

struct ReinsertionOptions {
  std::int64_t tries = 2000;  ///< neighbourhoods
  std::size_t least = 4;      ///< jobs of a neighbourhood, drawn between ...
  std::size_t most = 24;      ///< ... these
  std::uint64_t seed = 0;
  double enough = kInfinity;  ///< ends at this gain
  /// Rise of the cost that a try may keep at first; it falls to 0 linearly (threshold accepting:
  /// Dueck and Scheuer 1990). 0: what is dearer never stays.
  double threshold = 0.0;
};

/// Ruin and recreate (Schrimpf, Schneider, Stamm-Wilbrandt and Dueck 2000): takes out the jobs that
/// run nearest in time to one drawn in proportion to its regret, and lists them anew, by start, by
/// size, by cost per GPU-second, or in drawn order. Keeps what is dearer by at most the threshold.
/// Returns the gain, which is below 0 only with a threshold.
/// O(tries x (jobs + neighbourhood x searches)).
double reinsert(ListPlanner& planner, const PricedTime& prices, const std::vector<double>& regrets,
                const ReinsertionOptions& options, const StopToken& stop);

}  // namespace berth::solver::horizon_plan
