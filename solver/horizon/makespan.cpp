// SPDX-License-Identifier: Apache-2.0
#include "horizon/job_classes.hpp"
#include "horizon/list_planner.hpp"
#include "horizon/smoothed_dual.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "berth/solver/blmvm.hpp"
#include "berth/solver/horizon_bound.hpp"
#include "berth/solver/horizon_makespan.hpp"

namespace berth::solver {
namespace horizon_plan {
namespace {

using berth::horizon::kNever;
using berth::horizon::Option;
using berth::horizon::Problem;

/// Intervals of the prices of a refutation; releases and outages bend them little.
constexpr Seconds kIntervals = 4;
constexpr double kTolerance = 1e-4;  ///< of the bisection
constexpr std::array kTemperatures{0.01, 0.001};
constexpr int kIterations = 30;
/// Of the capacity's worth: rounding the prices for the judge must not eat the excess of the rents.
constexpr double kLeastExcess = 1e-7;

/// Completion of the job's fastest option, on any cluster.
Seconds earliest_completion(const Problem& problem, const berth::horizon::Job& job) {
  Seconds shortest = kNever;
  for (const Option& option : problem.options_of(job)) {
    shortest = std::min(shortest, option.duration);
  }
  return job.release + shortest;
}

/// The problem whose costs are 0 and whose deadlines are at most T.
Problem until(const Problem& problem, Seconds end) {
  Problem result = problem;
  result.cost_pieces.assign(1, {.after = problem.now, .cost = 0.0, .slope = 0.0});
  for (auto& option : result.options) option.cost = {0, 1};
  for (auto& job : result.jobs) {
    job.deadline = std::min(job.deadline, end);
    job.required = true;
  }
  return result;
}

/// Prices in 0 .. 1 at which the rents of all jobs that end by the deadline exceed what the
/// capacity is worth; empty when none are found.
HorizonBound refute(const Problem& problem, Seconds end, const StopToken& stop, DualRanks* ranks) {
  HorizonBound found{.grid = {}, .ends = {}, .budgets = problem.budgets.size()};
  const Seconds intervals = std::min(kIntervals, end - problem.now);
  for (Seconds k = 0; k <= intervals; ++k) {
    found.grid.push_back(problem.now + (end - problem.now) * k / intervals);
  }
  const SmoothedDual dual(problem, found.grid, merge_similar_jobs(problem, end - problem.now, 0.05),
                          ranks);
  found.ends.assign(dual.unknowns(), 1.0);
  const std::vector<double> upper(dual.unknowns(), 1.0);
  double worth = 1.0;  // of the capacity at price 1
  for (const double gpu_seconds : dual.capacity()) worth += gpu_seconds;
  for (const double temperature : kTemperatures) {
    (void)minimise(
        found.ends, upper,
        [&](std::span<const double> at, std::span<double> gradient) {
          return dual.evaluate(at, temperature, gradient);
        },
        {.max_iterations = kIterations, .memory = 10}, stop);
    found.bound = exact_dual(problem, found.grid, found.ends);
    if (found.bound > kLeastExcess * worth) return found;
  }
  found.ends.clear();
  return found;
}

MakespanBound bisect(const Problem& problem, Seconds lower, Seconds upper, const StopToken& stop,
                     DualRanks* ranks) {
  MakespanBound best{.bound = lower, .refutation = {}};
  const auto span = static_cast<double>(upper - problem.now);
  // `upper` is no bound: a plan ends then
  while (static_cast<double>(upper - best.bound) > kTolerance * span && !stop.requested()) {
    const Seconds middle = best.bound + (upper - best.bound) / 2;
    const HorizonBound found = refute(until(problem, middle), middle, stop, ranks);
    if (found.ends.empty()) {
      upper = middle;
    } else {
      best = {.bound = middle + 1, .refutation = certificate_of(found)};
    }
  }
  return best;
}

}  // namespace
}  // namespace horizon_plan

horizon::Seconds makespan_of(const horizon::Problem& problem, const horizon::Plan& plan) {
  horizon::Seconds last = problem.now;
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    if (plan.starts[j].placed()) last = std::max(last, end_of(problem, JobId(j), plan.starts[j]));
  }
  return last;
}

MakespanBound bound_makespan(const horizon::Problem& problem, horizon::Seconds upper,
                             const StopToken& stop, DualRanks* ranks) {
  horizon::Seconds lower = problem.now;
  for (const auto& job : problem.jobs) {
    const horizon::Seconds least = horizon_plan::earliest_completion(problem, job);
    if (least < horizon::kNever) lower = std::max(lower, least);
  }
  return horizon_plan::bisect(problem, lower, upper, stop, ranks);
}

MakespanBound bound_makespan_of_placed(const horizon::Problem& problem, const horizon::Plan& plan,
                                       const StopToken& stop, DualRanks* ranks) {
  horizon::Problem placed = problem;
  placed.jobs.clear();
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    if (plan.starts[j].placed()) placed.jobs.push_back(problem.jobs[j]);
  }
  return bound_makespan(placed, makespan_of(problem, plan), stop, ranks);
}

horizon::Plan longest_first(const horizon::Problem& problem, horizon::Timeline& timeline) {
  std::vector<std::tuple<horizon::Seconds, horizon::Gpus, JobId>> order;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    horizon::Seconds shortest = horizon::kNever;
    horizon::Gpus gpus = 0;
    for (const auto& option : problem.options_of(problem.jobs[j])) {
      if (option.duration >= shortest) continue;
      shortest = option.duration;
      gpus = option.gpus;
    }
    order.emplace_back(-shortest, -gpus, JobId(j));
  }
  std::ranges::sort(order);
  horizon_plan::ListPlanner planner(problem, timeline);
  std::vector<JobId> list;
  for (const auto& entry : order) list.push_back(std::get<JobId>(entry));
  for (const JobId job : planner.dependencies().ordered(list)) (void)planner.shift_left(job);
  return planner.built().plan();
}

}  // namespace berth::solver
