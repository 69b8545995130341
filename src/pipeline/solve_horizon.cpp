// SPDX-License-Identifier: Apache-2.0
#include "solve_horizon.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "berth/solver/horizon_makespan.hpp"

namespace berth::pipeline {
namespace {

using horizon::Problem;
using model::Horizon;
using report::ProgressTable;

/// Required jobs are worth this many times the largest cost when they are planned first.
constexpr double kRequiredFirst = 1e3;

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

/// One pass after another over the planned problem.
class Search {
 public:
  Search(HorizonTask& task, const Horizon& horizon, const HorizonEffort& effort,
         ProgressTable& progress, const StopToken& stop)
      : task_(task),
        horizon_(horizon),
        effort_(effort),
        progress_(progress),
        stop_(stop),
        bound_(task.bound) {}

  /// The next pass; after the first one, where required jobs wait, they are put first. A pass that
  /// has begun goes on.
  void step(HorizonState& state) {
    if (state.required_first && !first_) put_first();
    const bool begun = state.pass > 0 || state.rounds.round > 0 || !state.homes.empty();
    std::optional<coordinator::PlanInShards> from;
    if (begun) from = {.plan = std::move(state.plan), .homes = std::move(state.homes)};
    keep(state, run(state, from, state.rounds));
    state.rounds = {};
    if (++state.pass > 1 || model::minimised(horizon_.objective)) return;
    const std::size_t before = missing(task_.bounded, state.plan, horizon_.end());
    if (before == 0) return;
    state.required_first = true;
    put_first();
    coordinator::PlanInShards other = run({}, {}, {});
    if (missing(task_.bounded, other.plan, horizon_.end()) < before) keep(state, std::move(other));
  }

  [[nodiscard]] bool was_cut() const { return cut_; }

 private:
  static void keep(HorizonState& state, coordinator::PlanInShards found) {
    state.plan = std::move(found.plan);
    state.homes = std::move(found.homes);
  }

  void put_first() {
    first_ = true;
    put_required_first(task_, bound_, stop_);
  }

  coordinator::PlanInShards run(const HorizonState& state,
                                const std::optional<coordinator::PlanInShards>& from,
                                RoundState begun) {
    const PassTask pass{.problem = task_.planned,
                        .bound = bound_,
                        .kept = task_.kept.starts.empty() ? nullptr : &task_.kept,
                        .moments = task_.moments.starts.empty() ? nullptr : &task_.moments,
                        .shards = task_.shards,
                        .shard_ranks = task_.shard_ranks,
                        .rounds = task_.rounds};
    const auto after_round = [&](const coordinator::PlanInShards& found, const RoundState& at,
                                 const coordinator::HorizonRoundReport& report) {
      report_round(found.plan, at, report);
      if (!effort_.after_round || (first_ && state.pass == 0)) return;
      HorizonState now;
      now.pass = state.pass;
      now.required_first = first_;
      now.plan = found.plan;
      now.rounds = at;
      now.homes = found.homes;
      effort_.after_round(now);
    };
    PassResult result = run_pass(pass, state.pass + 1, from, begun, after_round, stop_);
    cut_ = cut_ || result.cut;
    return std::move(result.found);
  }

  void report_round(const horizon::Plan& plan, const RoundState& at,
                    const coordinator::HorizonRoundReport& report) {
    const double sign = model::minimised(horizon_.objective) ? 1.0 : -1.0;
    progress_.line({.stage = "rounds",
                    .round = at.round,
                    .objective = sign * cost_of(task_.bounded, plan),
                    .bound = sign * task_.bound.bound,
                    .blocks = report.offers,
                    .conflicts = report.refused});
    progress_.note(fmt::format("trades round={} offers={} bids={} moved={} refused={}", at.round,
                               report.offers, report.bids, report.moved, report.refused));
  }

  HorizonTask& task_;
  const Horizon& horizon_;
  const HorizonEffort& effort_;
  ProgressTable& progress_;
  const StopToken& stop_;
  solver::HorizonBound bound_;  ///< of the planned problem
  bool first_ = false;          ///< required jobs are first in it
  bool cut_ = false;
};

HorizonSolution solve_makespan(const HorizonTask& task, const HorizonEffort& effort,
                               ProgressTable& progress, const StopToken& stop) {
  const Problem& problem = task.bounded;
  HorizonState state = effort.from.value_or(HorizonState{});
  if (!effort.from) {
    solver::MakespanSolution found = solver::plan_makespan(problem, stop, task.ranks);
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
    return solve_makespan(task, effort, progress, stop);
  }
  HorizonState state = effort.from.value_or(HorizonState{});
  Search search(task, horizon, effort, progress, stop);
  for (bool another = state.pass == 0;;) {
    if (another) search.step(state);
    const double cost = cost_of(task.bounded, state.plan);
    const Passes passes{.done = state.pass, .all = std::max(state.pass, effort.passes)};
    report(progress, horizon, passes, cost, task.bound.bound);
    tell_passed(effort, state, stop);
    const bool enough = gap_of(cost, task.bound.bound) <= effort.gap;
    if (state.pass >= effort.passes || stop.requested() || enough) break;
    another = true;
  }
  return {.plan = std::move(state.plan),
          .certificate = solver::certificate_of(task.bound),
          .cut = search.was_cut()};
}

}  // namespace berth::pipeline
