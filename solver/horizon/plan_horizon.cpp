// SPDX-License-Identifier: Apache-2.0
#include "horizon/curves_of_bound.hpp"
#include "horizon/gang_sizes.hpp"
#include "horizon/list_search.hpp"
#include "horizon/slack_order.hpp"
#include "horizon/start_prices.hpp"
#include "horizon/start_quantiles.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "berth/horizon/machine_timeline.hpp"
#include "berth/horizon/pool_timeline.hpp"
#include "berth/parallel/loops.hpp"
#include "berth/solver/horizon_plan.hpp"

namespace berth::solver {
namespace horizon_plan {
namespace {

using berth::horizon::kNever;
using berth::horizon::MachineTimeline;
using berth::horizon::Option;
using berth::horizon::Plan;
using berth::horizon::PoolTimeline;
using berth::horizon::Problem;

/// Smoothing of the primal where the bound is that of prices 0.
constexpr double kColdest = 1e-5;

/// By JobId: share of a pool x duration, the least over the job's options.
std::vector<double> gang_leads(const Problem& problem) {
  std::vector<double> leads(problem.jobs.size(), 0.0);
  for (std::size_t j = 0; j < leads.size(); ++j) {
    double least = kInfinity;
    for (const Option& option : problem.options_of(problem.jobs[j])) {
      for (const PoolId pool : problem.pools_of(option)) {
        const auto gpus = static_cast<double>(problem.pools[pool.index()].capacity.back().gpus);
        const auto work = gpus_of(option) * static_cast<double>(option.duration);
        least = std::min(least, work / std::max(1.0, gpus));
      }
    }
    if (least < kInfinity) leads[j] = least;
  }
  return leads;
}

/// keys - lead x leads
std::vector<double> earlier_by(std::vector<double> keys, const std::vector<double>& leads,
                               double lead) {
  for (std::size_t j = 0; j < keys.size(); ++j) keys[j] -= lead * leads[j];
  return keys;
}

std::int64_t tries_of_gangs(std::int64_t jobs, const HorizonPlanOptions& options) {
  constexpr std::int64_t kMore = 4, kTriesPerJob = 160;  // chosen, Kalos (decision 115)
  return std::min(
      {options.most_tries * kMore, options.job_visits * kMore / jobs, kTriesPerJob * jobs});
}

/// Lists are far from the best for few large gangs, and a try is cheap.
std::int64_t tries(const Problem& problem, const HorizonPlanOptions& options) {
  const std::int64_t jobs = std::max<std::int64_t>(1, std::ssize(problem.jobs));
  const std::int64_t tries = std::min(options.most_tries, options.job_visits / jobs);
  return has_few_large_gangs(problem) ? std::max(tries, tries_of_gangs(jobs, options)) : tries;
}

Reinsertions reinsertions_on_machines(const Problem& problem, const HorizonPlanOptions& options) {
  const std::int64_t job_visits = 14 * std::max<std::int64_t>(1, std::ssize(problem.machines));
  return {.tries = std::min(tries(problem, options), options.machine_visits / job_visits)};
}

/// Fewer required jobs wait, or it costs less.
bool is_better(const Problem& problem, const Plan& found, const Plan& plan) {
  const auto waiting = [&](const Plan& of) {
    std::int64_t count = 0;
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      if (problem.jobs[j].required && !of.starts[j].placed()) ++count;
    }
    return count;
  };
  return std::pair(waiting(found), cost_of(problem, found)) <
         std::pair(waiting(plan), cost_of(problem, plan));
}

bool some_may_wait(const Problem& problem) {
  return std::ranges::any_of(problem.jobs, [](const auto& job) { return !job.required; });
}

/// Adds a list of the required jobs with deadlines by latest start, then of all others as in the
/// first list, if there are such jobs: lists by cost may leave them no room.
void add_deadlines_first(const Problem& problem, std::vector<JobList>& lists) {
  if (!has_required_deadlines(problem)) return;
  lists.push_back(
      {.order = deadlines_first(problem, lists.front().order), .rule = PlaceRule::earliest});
}

std::vector<JobList> lists_by_quantiles(const Problem& problem, const PricedTime& prices,
                                        const HorizonBound& bound,
                                        const HorizonPlanOptions& options) {
  const std::vector<double> leads = gang_leads(problem);
  const double coldest = bound.temperature > 0.0 ? bound.temperature : kColdest;
  std::vector<JobList> lists;
  lists.push_back({.order = wspt_order(problem, kLongDelay), .rule = PlaceRule::cheapest});
  for (const double softness : options.softness) {
    for (const double quantile : options.quantiles) {
      const auto starts =
          start_quantiles(problem, prices, softness * coldest, quantile, bound.grid);
      const auto order = order_by(earlier_by(starts, leads, options.pool_lead));
      lists.push_back({.order = order, .rule = PlaceRule::earliest});
      lists.push_back({.order = order, .rule = PlaceRule::priced});
    }
  }
  add_deadlines_first(problem, lists);
  if (!some_may_wait(problem)) return lists;
  const auto choices = priced_choices(problem, prices, bound.grid);
  for (const double share : options.rent_shares) {
    lists.push_back({.order = least_slack_order(choices, share), .rule = PlaceRule::earliest});
  }
  return lists;
}

std::vector<JobList> lists_by_starts(const Problem& problem, const PricedTime& prices,
                                     const HorizonBound& bound, const Plan& pools,
                                     const HorizonPlanOptions& options) {
  const std::vector<double> leads = gang_leads(problem);
  std::vector<double> starts;
  for (const auto& start : pools.starts) {
    starts.push_back(static_cast<double>(start.placed() ? start.start : kNever));
  }
  std::vector<JobList> lists;
  lists.push_back({.order = wspt_order(problem, kLongDelay), .rule = PlaceRule::cheapest});
  const bool equal_pools = problem.pools.size() > problem.curves;  // rent tells which one
  for (const double lead : options.machine_leads) {
    const auto order = order_by(earlier_by(starts, leads, lead));
    if (equal_pools) lists.push_back({.order = order, .rule = PlaceRule::priced});
    if (!equal_pools || lead == options.machine_leads.front()) {
      lists.push_back({.order = order, .rule = PlaceRule::earliest});
    }
  }
  add_deadlines_first(problem, lists);
  if (some_may_wait(problem)) {
    const auto choices = priced_choices(problem, prices, bound.grid);
    lists.push_back({.order = least_slack_order(choices, pools), .rule = PlaceRule::earliest});
  }
  if (options.moments != nullptr) {
    lists.push_back(
        {.order = order_by(starts), .rule = PlaceRule::earliest, .first = options.moments});
  }
  return lists;
}

Plan plan_on_pools_at(const Problem& problem, const HorizonBound& bound, const Reinsertions& work,
                      const HorizonPlanOptions& options, const StopToken& stop) {
  const CurvesOfBound at(problem, bound);
  ListSearch search(at.planned, at.priced, at.prices, bound.grid, options, stop,
                    [&] { return std::make_unique<berth::horizon::PoolTimeline>(problem); });
  return search.run(lists_by_quantiles(at.priced, at.prices, bound, options), work, bound.bound);
}

/// The prices that prove, for the search too.
HorizonBound at_proof_prices(HorizonBound bound) {
  bound.grid = bound.proof.grid;
  bound.ends = bound.proof.ends;
  bound.multiples = bound.proof.multiples;
  return bound;
}

}  // namespace
}  // namespace horizon_plan

horizon::Plan plan_on_pools(const horizon::Problem& problem, const HorizonBound& bound,
                            const HorizonPlanOptions& options, const StopToken& stop) {
  constexpr double kThreshold = 0.4;  // chosen, Kalos (decision 116)
  const std::int64_t tries = horizon_plan::tries(problem, options);
  const horizon_plan::Reinsertions first{.tries = tries},
      second{.tries = tries / 3, .threshold = kThreshold};  // a try takes longer there
  if (bound.proof.grid.empty()) {
    return horizon_plan::plan_on_pools_at(problem, bound, first, options, stop);
  }
  std::array<horizon::Plan, 2> plans;
  parallel::run_tasks(plans.size(), [&](std::size_t i) {
    plans[i] = i == 0 ? horizon_plan::plan_on_pools_at(problem, bound, first, options, stop)
                      : horizon_plan::plan_on_pools_at(
                            problem, horizon_plan::at_proof_prices(bound), second, options, stop);
  });
  return horizon_plan::is_better(problem, plans[1], plans[0]) ? plans[1] : plans[0];
}

horizon::Plan plan_on_machines(const horizon::Problem& problem, const HorizonBound& bound,
                               const horizon::Plan& pools, const HorizonPlanOptions& options,
                               const StopToken& stop) {
  const horizon_plan::CurvesOfBound at(problem, bound);
  horizon_plan::ListSearch search(at.planned, at.priced, at.prices, bound.grid, options, stop, [&] {
    return std::make_unique<horizon::MachineTimeline>(problem);
  });
  horizon::Plan plan =
      search.run(horizon_plan::lists_by_starts(at.priced, at.prices, bound, pools, options),
                 horizon_plan::reinsertions_on_machines(problem, options), bound.bound);
  assign_devices(problem, plan);
  return plan;
}

horizon::Plan improve_on_machines(const horizon::Problem& problem, const HorizonBound& bound,
                                  const horizon::Plan& plan, const HorizonPlanOptions& options,
                                  const StopToken& stop) {
  HorizonPlanOptions from = options;
  from.kept = &plan;
  const horizon_plan::CurvesOfBound at(problem, bound);
  horizon_plan::ListSearch search(at.planned, at.priced, at.prices, bound.grid, from, stop, [&] {
    return std::make_unique<horizon::MachineTimeline>(problem);
  });
  horizon::Plan found =
      search.resume(horizon_plan::reinsertions_on_machines(problem, options), bound.bound);
  if (!horizon_plan::is_better(problem, found, plan)) return plan;
  assign_devices(problem, found);
  return found;
}

}  // namespace berth::solver
