// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/list_planner.hpp"

#include <vector>

#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// By JobId: how a job would run at the prices.
struct PricedChoice {
  double latest_start = 0.0;  ///< that completes at no higher cost than the cheapest start
  double share = 0.0;         ///< rent / gain of completing; 0 for jobs that must run
};

/// The cheapest start of every job by cost + rent, whether or not it is worth its rent.
/// O(jobs x candidates). Uses threads.
std::vector<PricedChoice> priced_choices(const berth::horizon::Problem& problem,
                                         const PricedTime& prices, const PriceGrid& grid);

/// Jobs whose rent is at most `most` of their gain by latest start, least slack first (with one
/// common deadline: longest processing time first, Graham 1969); then the others by that share.
std::vector<JobId> least_slack_order(const std::vector<PricedChoice>& choices, double most);

/// The same with the jobs that a plan places first.
std::vector<JobId> least_slack_order(const std::vector<PricedChoice>& choices,
                                     const berth::horizon::Plan& plan);

/// True when a required job has a deadline.
bool has_required_deadlines(const berth::horizon::Problem& problem);

/// Required jobs with deadlines by latest start of their fastest option (earliest deadline first:
/// Jackson 1955), then the others as in `order`.
std::vector<JobId> deadlines_first(const berth::horizon::Problem& problem,
                                   std::vector<JobId> order);

}  // namespace berth::solver::horizon_plan
