// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"

#include <cstdint>
#include <span>

#include "berth/base/stop.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/branch_and_bound.hpp"
#include "berth/solver/job_prices.hpp"

namespace berth::pipeline {

/// Steps that pay by default: 200 up to 4,096 GPUs, none above.
int usual_bound_steps(std::int64_t gpus);

/// Leaves of a tree of cases that pay by default.
int usual_tree_leaves(std::int64_t gpus);

/// How far a bound has to be lowered once the plan is known.
struct TightenGoal {
  double objective = 0.0;  ///< of the plan
  double gap = 0.0;        ///< small enough: nothing is done
  StopToken stop = {};     ///< asked before and after each step
};

/// What it may cost.
struct TightenOptions {
  solver::JobPriceOptions job_prices{.evaluations = 0};  ///< 0 = nothing is done
  solver::BranchOptions branch{.leaves = 0};  ///< on top of that; 1 leaf or less = no tree
};

/// The proof, or a tighter one where jobs of whole GPUs that are not required pay a price of their
/// own, starting from the prices of the pools, and then by cases of the most undecided of them.
Proof tighten(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
              std::span<const double> prices, Proof proof, const TightenGoal& goal,
              const TightenOptions& options);

}  // namespace berth::pipeline
