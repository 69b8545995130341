// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/list_planner.hpp"
#include "horizon/smoothed_dual.hpp"

#include <vector>

#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// By JobId: the start below which `quantile` of the job's smoothed primal lies (its softmin
/// weights over all candidates, ordered by start; alpha points: Goemans 1997). A job that is left
/// out with more than 1 - quantile comes after `end`, by that weight.
/// O(jobs x candidates log). Uses threads.
std::vector<double> start_quantiles(const berth::horizon::Problem& problem,
                                    const PricedTime& prices, double temperature, double quantile,
                                    const PriceGrid& grid);

}  // namespace berth::solver::horizon_plan
