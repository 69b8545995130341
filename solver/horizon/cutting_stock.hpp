// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/horizon/time.hpp"

namespace berth::solver::horizon_plan {

/// The most that gangs in so many GPUs pay together, and the size that was added last.
struct Fill {
  double worth = 0.0;
  int last = -1;  ///< index of the size, or -1: one GPU less
};

/// Best fills of 0 .. `gpus` GPUs, an unbounded knapsack. O(sizes x GPUs).
/// @param prices  of a gang of each size, >= 0
std::vector<Fill> best_fills(std::span<const berth::horizon::Gpus> sizes,
                             std::span<const double> prices, berth::horizon::Gpus gpus);

/// Prices of fractional cutting stock by column generation (Gilmore and Gomory 1961): parts of a
/// pool that gangs of each size pay for, so that none of its fills pays for more than one pool, and
/// `demand` pays the most. Empty when that is hardly more than its GPUs.
/// @param sizes   GPUs, distinct, 1 .. pool
/// @param demand  gangs of each size, > 0
/// @pre a PetscSession exists. O(rounds x (sizes^3 + sizes x GPUs))
std::vector<double> cutting_stock_prices(std::span<const berth::horizon::Gpus> sizes,
                                         std::span<const double> demand, berth::horizon::Gpus pool);

}  // namespace berth::solver::horizon_plan
