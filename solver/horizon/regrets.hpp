// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/list_planner.hpp"
#include "horizon/smoothed_dual.hpp"

#include <vector>

#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// By JobId: cost + rent of the job in the plan less the least of any start, >= 0. The gap is the
/// sum of regrets and of the price of idle room. O(jobs x intervals). Uses threads.
std::vector<double> regrets(const berth::horizon::Problem& problem, const PricedTime& prices,
                            const berth::horizon::Plan& plan);

}  // namespace berth::solver::horizon_plan
