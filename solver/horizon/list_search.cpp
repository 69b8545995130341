// SPDX-License-Identifier: Apache-2.0
#include "horizon/list_search.hpp"

#include "horizon/regrets.hpp"
#include "horizon/reinsertion.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "berth/parallel/loops.hpp"

namespace berth::solver::horizon_plan {

using berth::horizon::Plan;
using berth::horizon::Problem;

namespace {

/// Multiples of the delay that a regret is worth by which a job moves forward in the list.
constexpr double kForward[] = {0.25, 1.0};

bool is_better(const ListPlan& one, const ListPlan& other) {
  return std::tie(one.missing, one.cost) < std::tie(other.missing, other.cost);
}

}  // namespace

std::vector<JobId> order_by(const std::vector<double>& keys) {
  std::vector<JobId> order;
  for (std::size_t j = 0; j < keys.size(); ++j) order.emplace_back(j);
  std::ranges::stable_sort(order, {}, [&](JobId job) { return keys[job.index()]; });
  return order;
}

ListSearch::ListSearch(const Problem& problem, const Problem& priced, const PricedTime& prices,
                       const PriceGrid& grid, const HorizonPlanOptions& options,
                       const StopToken& stop, TimelineFactory make_timeline)
    : problem_(problem),
      priced_(priced),
      prices_(prices),
      grid_(grid),
      options_(options),
      stop_(stop),
      make_timeline_(std::move(make_timeline)) {}

Plan ListSearch::run(std::vector<JobList> lists, const Reinsertions& reinsertions, double bound) {
  if (options_.kept != nullptr) {
    const std::vector<JobList> without = lists;
    for (JobList& list : lists) list.first = options_.kept;
    lists.insert(lists.end(), without.begin(), without.end());
  }
  ListPlan best = cheapest(std::move(lists), StopToken());
  shift(best);
  for (int i = 0; i < options_.reorderings && (best.missing > 0 || best.cost > bound); ++i) {
    if (stop_.requested()) break;
    ListPlan found = cheapest(reordered(best), stop_);
    shift(found);
    if (!is_better(found, best)) break;
    best = std::move(found);
  }
  insert_anew(best, reinsertions, bound);
  return best.planner->built().plan();
}

Plan ListSearch::resume(const Reinsertions& reinsertions, double bound) {
  std::vector<double> starts;
  for (const auto& start : options_.kept->starts)
    starts.push_back(static_cast<double>(start.start));
  ListPlan plan =
      cheapest({{.order = order_by(starts), .rule = PlaceRule::earliest, .first = options_.kept}},
               StopToken());
  insert_anew(plan, reinsertions, bound);
  return plan.planner->built().plan();
}

void ListSearch::insert_anew(ListPlan& plan, const Reinsertions& reinsertions, double bound) {
  if (reinsertions.tries <= 0 || plan.cost <= bound) return;
  const auto regret = regrets(priced_, prices_, plan.planner->built().plan());
  const double mean = std::abs(plan.cost) / std::max(1.0, static_cast<double>(regret.size()));
  (void)reinsert(*plan.planner, prices_, regret,
                 {.tries = reinsertions.tries,
                  .seed = options_.seed,
                  .enough = plan.cost - bound,
                  .threshold = reinsertions.threshold * mean},
                 stop_);
  shift(plan);
}

/// Places the jobs of the list in order, and sums up their cost; infinite when it was stopped.
void ListSearch::place_jobs(ListPlan& plan, const StopToken& stop) {
  plan.missing = std::ssize(plan.list.order);  // until all have been tried
  plan.cost = kInfinity;
  for (const JobId job : plan.list.order) {
    if (plan.planner->built().start_of(job).placed()) continue;
    if (stop.requested()) return;
    plan.planner->place(job, plan.list.rule, prices_);
  }
  sum_up(plan);
}

void ListSearch::sum_up(ListPlan& plan) const {
  plan.missing = 0;
  plan.cost = 0.0;
  for (const JobId job : plan.list.order) {
    const bool missing =
        problem_.jobs[job.index()].required && !plan.planner->built().start_of(job).placed();
    plan.missing += missing ? 1 : 0;
    plan.cost += missing ? 0.0 : plan.planner->built().cost_of(job);
  }
}

/// Runs all lists, each on a timeline of its own; returns the best plan, the first of equals.
/// The first list ends by `first`, the others by the token of the search.
ListPlan ListSearch::cheapest(std::vector<JobList> lists, const StopToken& first) {
  std::vector<ListPlan> plans(lists.size());
  parallel::run_tasks(lists.size(), [&](std::size_t i) {
    ListPlan& plan = plans[i];
    plan.list = std::move(lists[i]);
    plan.timeline = make_timeline_();
    plan.planner = std::make_unique<ListPlanner>(problem_, *plan.timeline);
    plan.list.order = plan.planner->dependencies().ordered(plan.list.order);
    if (plan.list.first != nullptr) plan.planner->keep(*plan.list.first);
    place_jobs(plan, i == 0 ? first : stop_);
  });
  return std::move(*std::ranges::min_element(plans, is_better));
}

/// Lists by the starts of a plan, less multiples of the delay that a job's regret is worth (squeaky
/// wheel optimisation: Joslin and Clements 1999).
std::vector<JobList> ListSearch::reordered(const ListPlan& from) const {
  const Plan plan = from.planner->built().plan();
  const std::vector<double> regret = regrets(priced_, prices_, plan);
  const Seconds span = grid_.back() - grid_.front();
  std::vector<JobList> lists;
  for (const double forward : kForward) {
    std::vector<double> keys(plan.starts.size());
    for (std::size_t j = 0; j < keys.size(); ++j) {
      const double per_second =
          cost_range(priced_, priced_.jobs[j], span) / static_cast<double>(span);
      const bool placed = plan.starts[j].placed();
      keys[j] = static_cast<double>(placed ? plan.starts[j].start : grid_.back());
      keys[j] -= forward * regret[j] / std::max(per_second, 1e-12);
    }
    lists.push_back({.order = order_by(keys), .rule = from.list.rule, .first = from.list.first});
  }
  return lists;
}

/// Each job, in order of start, to its cheapest place in the room that is left.
void ListSearch::shift(ListPlan& plan) {
  for (int pass = 0; pass < options_.shift_passes; ++pass) {
    std::vector<JobId> order = plan.list.order;
    std::ranges::stable_sort(order, {},
                             [&](JobId job) { return plan.planner->built().start_of(job).start; });
    double gain = 0.0;
    for (const JobId job : order) {
      if (stop_.requested()) return;
      gain += plan.planner->shift_left(job);
    }
    sum_up(plan);  // a gain is infinite where a required job found a place
    if (gain <= 0.0) return;
  }
}

}  // namespace berth::solver::horizon_plan
