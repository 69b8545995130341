// SPDX-License-Identifier: Apache-2.0
#include "horizon/list_planner.hpp"
#include "horizon/slack_order.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/horizon/machine_timeline.hpp"
#include "berth/parallel/loops.hpp"
#include "berth/solver/horizon_makespan.hpp"
#include "berth/solver/horizon_plan.hpp"

namespace berth::solver {
namespace horizon_plan {
namespace {

using berth::horizon::Gpus;
using berth::horizon::MachineTimeline;
using berth::horizon::Option;
using berth::horizon::Plan;
using berth::horizon::Problem;

/// Last completions that the search aims at, by bisection between the bound and the best plan.
constexpr int kMostTargets = 5;
/// Of the reinsertions towards one target (HorizonPlanOptions::job_visits).
constexpr std::int64_t kJobVisits = 4'000'000;

/// The fastest option of a job.
struct Fastest {
  Seconds duration = 0;
  Gpus gpus = 0;
};

Fastest fastest_of(const Problem& problem, JobId job) {
  const auto options = problem.options_of(problem.jobs[job.index()]);
  if (options.empty()) return {};
  const Option& option = *std::ranges::min_element(options, {}, &Option::duration);
  return {.duration = option.duration, .gpus = option.gpus};
}

std::vector<JobId> descending(const Problem& problem, Seconds (*key)(const Fastest&)) {
  std::vector<std::pair<Seconds, JobId>> keys;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    keys.emplace_back(-key(fastest_of(problem, JobId(j))), JobId(j));
  }
  std::ranges::sort(keys);
  std::vector<JobId> order;
  for (const auto& entry : keys) order.push_back(entry.second);
  return order;
}

/// Fewer waiting jobs are better, then an earlier last completion.
struct MakespanPlan {
  Plan plan;
  std::pair<std::int64_t, Seconds> rank;
};

MakespanPlan ranked(const Problem& problem, Plan plan) {
  const auto waiting = std::ranges::count_if(
      plan.starts, [](const berth::horizon::JobStart& start) { return !start.placed(); });
  const Seconds last = makespan_of(problem, plan);
  return {std::move(plan), {waiting, last}};
}

/// The plan that a list gives.
MakespanPlan planned(const Problem& problem, const std::vector<JobId>& order) {
  MachineTimeline timeline(problem);
  ListPlanner planner(problem, timeline);
  for (const JobId job : planner.dependencies().ordered(order)) (void)planner.shift_left(job);
  return ranked(problem, planner.built().plan());
}

/// The best of the lists by longest duration, most work, most GPUs and by deadline.
MakespanPlan by_lists(const Problem& problem) {
  using Key = Seconds (*)(const Fastest&);
  constexpr std::array<Key, 3> keys{[](const Fastest& f) { return f.duration; },
                                    [](const Fastest& f) { return f.duration * f.gpus; },
                                    [](const Fastest& f) { return f.gpus; }};
  std::vector<std::vector<JobId>> orders;
  for (const Key key : keys) orders.push_back(descending(problem, key));
  if (has_required_deadlines(problem)) orders.push_back(deadlines_first(problem, orders.front()));
  std::vector<MakespanPlan> plans(orders.size());
  parallel::run_tasks(orders.size(),
                      [&](std::size_t i) { plans[i] = planned(problem, orders[i]); });
  return std::move(*std::ranges::min_element(plans, {}, &MakespanPlan::rank));
}

/// The problem whose costs are the seconds by which jobs end after `end`.
Problem tardiness_after(const Problem& problem, Seconds end) {
  Problem result = problem;
  result.cost_pieces = {{.after = problem.now, .cost = 0.0, .slope = 0.0},
                        {.after = end, .cost = 0.0, .slope = 1.0}};
  for (Option& option : result.options) option.cost = {0, 2};
  return result;
}

/// Searches a plan that ends by `end`, from the starts of another one, without prices.
MakespanPlan ending_by(const Problem& problem, Seconds end, const Plan& from, std::uint64_t seed,
                       const StopToken& stop) {
  const Problem late = tardiness_after(problem, end);
  HorizonBound free{.grid = {problem.now, end}, .ends = {}, .budgets = problem.budgets.size()};
  free.ends.assign(2 * free_curves(problem) + free.budgets, 0.0);
  const HorizonPlanOptions options{
      .machine_leads = {0.0, 0.5}, .reorderings = 1, .job_visits = kJobVisits, .seed = seed};
  return ranked(problem, seed == 0 ? plan_on_machines(late, free, from, options, stop)
                                   : improve_on_machines(late, free, from, options, stop));
}

/// Aims between what no plan reaches and the best plan.
void search_targets(const Problem& problem, Seconds least, std::uint64_t seed, MakespanPlan& best,
                    const StopToken& stop) {
  for (int i = 0; i < kMostTargets && least < best.rank.second && !stop.requested(); ++i) {
    const Seconds target = least + (best.rank.second - least) / 2;
    MakespanPlan next = ending_by(problem, target, best.plan, seed, stop);
    if (next.rank.second > target) least = target + 1;  // not found
    if (next.rank < best.rank) best = std::move(next);
  }
}

}  // namespace
}  // namespace horizon_plan

MakespanSolution plan_makespan(const horizon::Problem& problem, const StopToken& stop,
                               DualRanks* ranks) {
  horizon_plan::MakespanPlan best = horizon_plan::by_lists(problem);
  MakespanSolution solution{.plan = {},
                            .bound = bound_makespan_of_placed(problem, best.plan, stop, ranks)};
  horizon_plan::search_targets(problem, solution.bound.bound, 0, best, stop);
  assign_devices(problem, best.plan);
  solution.plan = std::move(best.plan);
  return solution;
}

void improve_makespan(const horizon::Problem& problem, std::uint64_t seed,
                      MakespanSolution& solution, const StopToken& stop) {
  auto best = horizon_plan::ranked(problem, std::move(solution.plan));
  horizon_plan::search_targets(problem, solution.bound.bound, seed, best, stop);
  assign_devices(problem, best.plan);
  solution.plan = std::move(best.plan);
}

}  // namespace berth::solver
