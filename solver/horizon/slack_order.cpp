// SPDX-License-Identifier: Apache-2.0
#include "horizon/slack_order.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "berth/parallel/loops.hpp"

namespace berth::solver::horizon_plan {
namespace {

using berth::horizon::CostPiece;
using berth::horizon::Job;
using berth::horizon::Option;
using berth::horizon::Plan;
using berth::horizon::Problem;

/// Candidates that cost more than this many gains above the cheapest are not looked at: such jobs
/// come last.
constexpr double kMostShare = 4.0;

/// Last completion that costs no more than completing at `completion`.
double latest_completion(std::span<const CostPiece> cost, double completion) {
  std::size_t i = 0;
  while (i + 1 < cost.size() && static_cast<double>(cost[i + 1].after) < completion) ++i;
  while (i + 1 < cost.size() && cost[i].slope <= 0.0 && cost[i + 1].cost <= cost[i].cost) ++i;
  if (cost[i].slope > 0.0) return std::max(completion, static_cast<double>(cost[i].after));
  return i + 1 < cost.size() ? static_cast<double>(cost[i + 1].after) : completion;
}

double completion_cost(std::span<const CostPiece> cost, double completion) {
  return cost_at(cost, static_cast<Seconds>(completion));
}

PricedChoice choice_of(const Problem& problem, const Job& job, const PricedTime& prices,
                       const PriceGrid& grid, std::vector<Candidate>& candidates) {
  const double gain = cost_range(problem, job, grid.back() - grid.front());
  const double margin = job.required ? 0.0 : kMostShare * gain;
  (void)collect_candidates(problem, job, prices.curves, prices.curves_of_set, margin, candidates);
  PricedChoice choice{.latest_start = static_cast<double>(grid.back()), .share = kInfinity};
  double least = kInfinity;
  for (const Candidate& c : candidates) {
    if (c.piece.cost >= least) continue;
    const Option& option = problem.options_of(job)[static_cast<std::size_t>(c.option)];
    const auto cost = problem.cost_of(option);
    const auto duration = static_cast<double>(option.duration);
    const double completing = completion_cost(cost, c.piece.start + duration);
    if (!job.required && completing >= 0.0) continue;
    least = c.piece.cost;
    const double latest = latest_completion(cost, c.piece.start + duration);
    choice.latest_start = std::min(latest, static_cast<double>(job.deadline)) - duration;
    choice.share = job.required ? 0.0 : (c.piece.cost - completing) / -completing;
  }
  return choice;
}

bool must_end_in_time(const Job& job) {
  return job.required && job.deadline < berth::horizon::kNever;
}

template <class Chosen>
std::vector<JobId> order_of(const std::vector<PricedChoice>& choices, Chosen&& chosen) {
  std::vector<JobId> order;
  for (std::size_t j = 0; j < choices.size(); ++j) order.emplace_back(j);
  std::ranges::stable_sort(order, {}, [&](JobId job) {
    const PricedChoice& choice = choices[job.index()];
    return chosen(job) ? std::tuple(0, choice.latest_start, choice.share)
                       : std::tuple(1, choice.share, choice.latest_start);
  });
  return order;
}

}  // namespace

std::vector<PricedChoice> priced_choices(const Problem& problem, const PricedTime& prices,
                                         const PriceGrid& grid) {
  std::vector<PricedChoice> choices(problem.jobs.size());
  parallel::sweep(problem.jobs.size(), [&](std::size_t j) {
    thread_local std::vector<Candidate> candidates;
    choices[j] = choice_of(problem, problem.jobs[j], prices, grid, candidates);
  });
  return choices;
}

std::vector<JobId> least_slack_order(const std::vector<PricedChoice>& choices, double most) {
  return order_of(choices, [&](JobId job) { return choices[job.index()].share <= most; });
}

std::vector<JobId> least_slack_order(const std::vector<PricedChoice>& choices, const Plan& plan) {
  return order_of(choices, [&](JobId job) { return plan.starts[job.index()].placed(); });
}

bool has_required_deadlines(const Problem& problem) {
  return std::ranges::any_of(problem.jobs, must_end_in_time);
}

std::vector<JobId> deadlines_first(const Problem& problem, std::vector<JobId> order) {
  const auto latest_start = [&](JobId id) {
    const Job& job = problem.jobs[id.index()];
    const auto options = problem.options_of(job);
    if (!must_end_in_time(job) || options.empty()) return berth::horizon::kNever;
    return job.deadline - std::ranges::min(options, {}, &Option::duration).duration;
  };
  std::ranges::stable_sort(order, {}, latest_start);
  return order;
}

}  // namespace berth::solver::horizon_plan
