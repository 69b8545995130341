// SPDX-License-Identifier: Apache-2.0
#include "solve_horizon.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "berth/solver/horizon_makespan.hpp"
#include "berth/solver/horizon_plan.hpp"

namespace berth::pipeline {
namespace {

using horizon::Problem;
using model::Horizon;
using report::ProgressTable;

/// Required jobs are worth this many times the largest cost when they are planned first.
constexpr double kRequiredFirst = 1e3;

horizon::Plan solve(const HorizonTask& task, const StopToken& stop) {
  const auto given = [](const horizon::Plan& plan) {
    return plan.starts.empty() ? nullptr : &plan;
  };
  const solver::HorizonPlanOptions options{.kept = given(task.kept),
                                           .moments = given(task.moments)};
  const horizon::Plan pools = solver::plan_on_pools(task.planned, task.bound, options, stop);
  return solver::plan_on_machines(task.planned, task.bound, pools, options, stop);
}

/// Number of required jobs that do not start by `end`.
std::size_t missing(const horizon::Problem& problem, const horizon::Plan& plan,
                    horizon::Seconds end) {
  std::size_t count = 0;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const bool there = plan.starts[j].placed() && plan.starts[j].start < end;
    if (problem.jobs[j].required && !there) ++count;
  }
  return count;
}

/// The problem in which required jobs are worth more than all others for their time.
horizon::Problem with_required_first(horizon::Problem problem) {
  double largest = 1.0;
  for (const auto& piece : problem.cost_pieces) largest = std::max(largest, -piece.cost);
  for (const auto& job : problem.jobs) {
    if (!job.required) continue;
    for (const auto& option : problem.options_of(job)) {
      for (auto i = option.cost.begin; i < option.cost.end; ++i) {
        auto& piece = problem.cost_pieces[static_cast<std::size_t>(i)];
        if (piece.cost < 0.0) piece.cost -= kRequiredFirst * largest;
      }
    }
  }
  return problem;
}

/// Required jobs first: the task's problem, and `bound` of it.
void put_required_first(HorizonTask& task, solver::HorizonBound& bound, const StopToken& stop) {
  task.planned = with_required_first(std::move(task.planned));
  bound = solver::bound_horizon(task.planned, {.ranks = task.ranks}, stop);
}

/// The first pass; where required jobs wait, they are put first. @param bound  of the planned
/// problem
HorizonState solve_with_required(HorizonTask& task, const Horizon& horizon,
                                 solver::HorizonBound& bound, const StopToken& stop) {
  HorizonState state{.pass = 1, .plan = solve(task, stop)};
  if (model::minimised(horizon.objective)) return state;
  const std::size_t before = missing(task.bounded, state.plan, horizon.end());
  if (before == 0) return state;
  state.required_first = true;
  put_required_first(task, bound, stop);
  const HorizonTask first{.planned = task.planned,
                          .bounded = task.planned,
                          .kept = task.kept,
                          .moments = task.moments,
                          .bound = bound};
  horizon::Plan other = solve(first, stop);
  if (missing(task.bounded, other, horizon.end()) < before) state.plan = std::move(other);
  return state;
}

double gap_of(double cost, double bound) {
  return (cost - bound) / std::max({std::abs(cost), std::abs(bound), 1e-12});
}

struct Passes {
  int done = 0;  ///< with this one
  int all = 0;   ///< at most
};

/// Costs and their bound as the objective has them: gains for a value.
void report(ProgressTable& progress, const Horizon& horizon, Passes passes, double cost,
            double bound) {
  const double sign = model::minimised(horizon.objective) ? 1.0 : -1.0;
  progress.line({.stage = passes.done == 1 ? "plan" : "effort",
                 .round = passes.done,
                 .objective = sign * cost,
                 .bound = sign * bound,
                 .left = passes.all - passes.done});
}

void tell_passed(const HorizonEffort& effort, const HorizonState& state, const StopToken& stop) {
  if (effort.passed && !stop.has_cut()) effort.passed(state);
}

HorizonSolution solve_makespan(const Problem& problem, const HorizonEffort& effort,
                               ProgressTable& progress, const StopToken& stop) {
  HorizonState state = effort.from.value_or(HorizonState{});
  if (!effort.from) {
    solver::MakespanSolution found = solver::plan_makespan(problem, stop);
    state = {.pass = 1, .plan = std::move(found.plan), .makespan = std::move(found.bound)};
  }
  const auto now = static_cast<double>(problem.now);
  const double bound = static_cast<double>(state.makespan.bound) - now;
  for (;; ++state.pass) {
    const double last = static_cast<double>(solver::makespan_of(problem, state.plan)) - now;
    const Passes passes{.done = state.pass, .all = std::max(state.pass, effort.passes)};
    report(progress, {.objective = model::HorizonObjective::makespan}, passes, last, bound);
    tell_passed(effort, state, stop);
    const bool enough = gap_of(last, bound) <= effort.gap;
    if (state.pass >= effort.passes || stop.requested() || enough) break;
    solver::MakespanSolution found{.plan = std::move(state.plan), .bound = state.makespan};
    solver::improve_makespan(problem, static_cast<std::uint64_t>(state.pass), found, stop);
    state.plan = std::move(found.plan);
  }
  return {.plan = std::move(state.plan), .certificate = std::move(state.makespan.refutation)};
}

}  // namespace

HorizonSolution solve_horizon(HorizonTask task, const Horizon& horizon, const HorizonEffort& effort,
                              ProgressTable& progress, const StopToken& stop) {
  if (horizon.objective == model::HorizonObjective::makespan) {
    return solve_makespan(task.bounded, effort, progress, stop);
  }
  solver::HorizonBound of_planned = task.bound;
  HorizonState state = effort.from.value_or(HorizonState{});
  if (!effort.from) state = solve_with_required(task, horizon, of_planned, stop);
  if (effort.from && state.required_first) put_required_first(task, of_planned, stop);
  for (;; ++state.pass) {
    const double cost = cost_of(task.bounded, state.plan);
    const Passes passes{.done = state.pass, .all = std::max(state.pass, effort.passes)};
    report(progress, horizon, passes, cost, task.bound.bound);
    tell_passed(effort, state, stop);
    const bool enough = gap_of(cost, task.bound.bound) <= effort.gap;
    if (state.pass >= effort.passes || stop.requested() || enough) break;
    state.plan =
        solver::improve_on_machines(task.planned, of_planned, state.plan,
                                    {.seed = static_cast<std::uint64_t>(state.pass)}, stop);
  }
  return {.plan = std::move(state.plan), .certificate = solver::certificate_of(task.bound)};
}

}  // namespace berth::pipeline
