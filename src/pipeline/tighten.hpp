// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"

#include <cstdint>
#include <limits>
#include <span>

#include "berth/base/stop.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/branch_and_bound.hpp"
#include "berth/solver/job_prices.hpp"

namespace berth::pipeline {

/// Default number of steps: 200 up to 4,096 GPUs (docs/decisions/0003) and for few jobs (0050),
/// none otherwise.
int usual_bound_steps(std::int64_t gpus, std::int64_t jobs);

/// Default number of leaves of the tree of cases: docs/decisions/0007, 0050.
int usual_tree_leaves(std::int64_t gpus, std::int64_t jobs);

/// The target of tightening a bound for a known plan.
struct TightenGoal {
  double objective = 0.0;  ///< of the plan
  double gap = 0.0;        ///< a gap this small needs no tightening
  StopToken stop = {};     ///< asked before and after each step
};

/// The effort of tightening.
struct TightenOptions {
  solver::JobPriceOptions job_prices{.evaluations = 0};  ///< 0 = nothing is done
  solver::BranchOptions branch{.leaves = 0};             ///< in addition; 1 leaf or less = no tree
  /// Nothing is done in larger clusters, in units of the common divisor of the jobs' GPUs, or of
  /// one GPU where shares or required jobs are beside them: an evaluation takes the square.
  std::int64_t most_units = std::numeric_limits<std::int64_t>::max();
};

/// The proof, or a tighter one in which jobs of whole GPUs that are not required pay a price of
/// their own, starting from the prices of the pools, followed by cases of the most undecided of
/// these jobs.
Proof price_jobs(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
                 std::span<const double> prices, Proof proof, const TightenGoal& goal,
                 const TightenOptions& options);

}  // namespace berth::pipeline
