// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/smoothed_dual.hpp"

#include <span>
#include <vector>

#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/solver/price_curve.hpp"

namespace berth::solver::horizon_plan {

/// Longer than any plan: what a delay costs in the limit.
inline constexpr Seconds kLongDelay = Seconds{1} << 30;

/// Jobs by weighted shortest processing time: what a delay over `span` costs per GPU-second,
/// descending; then by id (Smith 1956).
std::vector<JobId> wspt_order(const berth::horizon::Problem& problem, Seconds span);

/// Each job in this order at the earliest start of the option and pool with the least cost.
berth::horizon::Plan list_plan(const berth::horizon::Problem& problem,
                               std::span<const JobId> order);

/// `intervals` intervals from Problem::now to the last completion, or to where gains are lost: half
/// of them geometric, since prices fall fastest at first, half between quantiles of the plan's
/// starts and completions; then nodes where at least 1 % of a curve's capacity changes, and where
/// at least 1 % of all gains are lost, at most intervals / 4 of each.
PriceGrid price_grid(const berth::horizon::Problem& problem, const berth::horizon::Plan& plan,
                     int intervals);

/// Prices of a plan in the fluid limit: lambda falls at the rate w / (n d) of the jobs that run,
/// the mean over their GPUs, while the pools of a curve are busy, and is 0 when the last job ends.
/// Integrated backwards. Quotas and budgets cost nothing. O(jobs log jobs).
EndPrices start_prices(const berth::horizon::Problem& problem, const berth::horizon::Plan& plan,
                       const PriceGrid& grid);

}  // namespace berth::solver::horizon_plan
