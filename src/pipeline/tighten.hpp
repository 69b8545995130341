// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"

#include <cstdint>
#include <span>

#include "berth/base/stop.hpp"
#include "berth/model/pools.hpp"
#include "berth/model/value.hpp"
#include "berth/solver/job_prices.hpp"

namespace berth::pipeline {

/// Steps that pay by default: 200 up to 4,096 GPUs, none above.
int usual_bound_steps(std::int64_t gpus);

/// Leaves of a tree of cases that pay by default.
int usual_tree_leaves(std::int64_t gpus);

/// What it may cost to lower a bound once the plan is known.
struct TightenOptions {
  double objective = 0.0;  ///< of the plan
  double gap = 0.0;        ///< small enough: nothing is done
  int steps = 0;           ///< evaluations of the bound; 0 = nothing is done
  int leaves = 0;          ///< of a tree of cases on top of that, at most; 1 or less = no tree
  StopToken stop = {};     ///< asked before and after each of them
};

/// The proof, or a tighter one where jobs of whole GPUs that are not required pay a price of their
/// own, starting from the prices of the pools, and then by cases of the most undecided of them.
Proof tighten(const model::Valuation& valuation, const model::Pools& pools,
              std::span<const double> prices, Proof proof, const TightenOptions& options);

}  // namespace berth::pipeline
