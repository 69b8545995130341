// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_knapsack.hpp"
#include "relaxed_knapsack.hpp"

#include "berth/base/int128.hpp"

namespace berth::certify {

/// Multipliers of a small bound, and what their search found.
struct LeastRelaxation {
  Multipliers multipliers{};
  Int128 bound = 0;     ///< at these multipliers
  Int128 attained = 0;  ///< largest price of a content found that the machine has room for
};

/// Lowers the bound from multipliers of 0, one resource after the other, once for each resource as
/// the first. The bound is convex and piecewise linear in one multiplier, so its least value is
/// where two tangents meet. Ends when a content attains the bound, or after about `evaluations`
/// bounds. Deterministic.
/// @post  relaxed is set to the multipliers
LeastRelaxation least_relaxation(const MachineKnapsack& knapsack, RelaxedKnapsack& relaxed,
                                 int evaluations);

}  // namespace berth::certify
