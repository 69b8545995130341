// SPDX-License-Identifier: Apache-2.0
#include "horizon/list_planner.hpp"

#include <algorithm>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::solver::horizon_plan {

using berth::horizon::Job;
using berth::horizon::JobStart;
using berth::horizon::kNever;
using berth::horizon::Option;
using berth::horizon::Problem;
using berth::horizon::RemovedJob;
using berth::horizon::Seconds;

namespace {

/// A job starts later by at most one part in kDelayShare of its duration to end beside its
/// neighbours, and a second of delay counts kDelayWeight times. Chosen (decision 112).
constexpr Seconds kDelayShare = 32;
constexpr double kDelayWeight = 4.0;

/// By JobId: the values of all jobs that wait for it, directly or not. Diamonds count twice.
std::vector<double> values_after(const Problem& problem,
                                 const berth::horizon::DependencyGraph& graph) {
  if (graph.empty()) return {};
  std::vector<JobId> all;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) all.emplace_back(j);
  std::vector<double> support(all.size(), 0.0);
  const std::vector<JobId> order = graph.ordered(all);
  for (auto job = order.rbegin(); job != order.rend(); ++job) {
    double worth = 0.0;
    for (const Option& option : problem.options_of(problem.jobs[job->index()])) {
      worth = std::max(worth, -problem.cost_of(option).front().cost);
    }
    for (const JobId before : graph.before(*job)) {
      support[before.index()] += worth + support[job->index()];
    }
  }
  return support;
}

/// A completion after this one costs at least `limit`. Costs do not fall.
Seconds latest_below(std::span<const berth::horizon::CostPiece> pieces, double limit) {
  Seconds end = kNever;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    if (piece->cost < limit) {
      if (piece->slope <= 0.0) return end;
      const double span = (limit - piece->cost) / piece->slope;
      const double most = static_cast<double>(end - piece->after);
      // rounding of the quotient is far below a second and its 2^-40th part
      if (span * (1.0 + 0x1p-40) + 2.0 >= most) return end;
      return piece->after + static_cast<Seconds>(span * (1.0 + 0x1p-40)) + 2;
    }
    end = piece->after;
  }
  return end;
}

}  // namespace

ListPlanner::ListPlanner(const Problem& problem, berth::horizon::Timeline& timeline)
    : problem_(problem),
      built_(problem, timeline),
      dependencies_(problem.jobs.size(), problem.dependencies),
      support_(values_after(problem, dependencies_)) {}

bool ListPlanner::may_wait(JobId job) const {
  return std::ranges::none_of(dependencies_.after(job),
                              [&](JobId after) { return built_.start_of(after).placed(); });
}

std::optional<Job> ListPlanner::between_neighbours(JobId id) const {
  Job job = problem_.jobs[id.index()];
  for (const JobId before : dependencies_.before(id)) {
    if (!built_.start_of(before).placed()) return std::nullopt;
    job.release = std::max(job.release, built_.end_of(before));
  }
  for (const JobId after : dependencies_.after(id)) {
    const JobStart& start = built_.start_of(after);
    if (start.placed()) job.deadline = std::min(job.deadline, start.start);
  }
  return job;
}

/// Replaces `best` by the earliest start from `from` on in this pool, if that costs less.
void ListPlanner::improve(const Job& job, std::int32_t option_index, PoolId pool, Seconds from,
                          const PricedTime* prices, Place& best) {
  const Option& option = problem_.options_of(job)[static_cast<std::size_t>(option_index)];
  const auto cost = problem_.cost_of(option);
  if (cost_at(cost, from + option.duration) >= best.cost) return;  // rents are >= 0
  const Seconds until = std::min(latest_below(cost, best.cost), job.deadline) - option.duration;
  if (from > until) return;
  Seconds start = built_.timeline().earliest_until(option, pool, from, until);
  if (start < kNever && !built_.budgets().allow(option, start)) {
    // later starts use no more of a budget; from its end on, nothing
    const Seconds after = std::max(from, problem_.budgets_end);
    start = built_.timeline().earliest_until(option, pool, after, until);
  }
  if (start >= kNever || start + option.duration > job.deadline) return;
  double at = cost_at(cost, start + option.duration);
  if (prices != nullptr && at < best.cost) {
    at += rent_of(problem_, option, prices->curves, problem_.pools[pool.index()].curve, start,
                  start + option.duration);
  }
  if (at < best.cost) {
    best = {{.option = option_index, .pool = pool, .start = start, .shares = {}}, at};
  }
}

ListPlanner::Place ListPlanner::earliest_place(const Job& job, const PricedTime* prices,
                                               double limit) {
  Place best{.start = {}, .cost = limit};
  const auto options = problem_.options_of(job);
  for (std::size_t k = 0; k < options.size(); ++k) {
    for (const PoolId pool : problem_.pools_of(options[k])) {
      improve(job, static_cast<std::int32_t>(k), pool, job.release, prices, best);
    }
  }
  return best;
}

/// Candidates in order of their lower bound, each moved to the first room after it, until the next
/// bound is no better than the best place found.
ListPlanner::Place ListPlanner::priced_place(const Job& job, const PricedTime& prices, Place best) {
  const double least =
      collect_candidates(problem_, job, prices.curves, prices.curves_of_set, 0.0, candidates_);
  if (best.cost <= least) return best;
  (void)collect_candidates(problem_, job, prices.curves, prices.curves_of_set, best.cost - least,
                           candidates_);
  std::ranges::stable_sort(candidates_, {}, [](const Candidate& c) { return c.piece.cost; });
  for (const Candidate& c : candidates_) {
    if (c.piece.cost >= best.cost) break;
    const Option& option = problem_.options_of(job)[static_cast<std::size_t>(c.option)];
    for (const PoolId pool : problem_.pools_of(option)) {
      if (problem_.pools[pool.index()].curve.value() != c.curve) continue;
      improve(job, c.option, pool, static_cast<Seconds>(c.piece.start), &prices, best);
    }
  }
  return best;
}

void ListPlanner::place(JobId id, PlaceRule rule, const PricedTime& prices) {
  const std::optional<Job> job = between_neighbours(id);
  if (!job) return;
  const double support = support_.empty() ? 0.0 : support_[id.index()];
  const double limit = job->required ? kInfinity : support;
  Place best = earliest_place(*job, rule == PlaceRule::cheapest ? nullptr : &prices, limit);
  if (rule == PlaceRule::priced && best.cost < kInfinity) best = priced_place(*job, prices, best);
  if (!best.start.placed()) return;
  best.start.start = suited_start(*job, best.start, prices);
  built_.place(id, best.start);
}

/// A little later, where other jobs of a machine end when this one does. A second between the ends
/// is worth a part of the job's mean rent, a second of delay what the job's completion costs; never
/// beyond a step of that cost.
Seconds ListPlanner::suited_start(const Job& job, const JobStart& start,
                                  const PricedTime& prices) const {
  if (prices.curves.empty()) return start.start;
  const Option& option = problem_.options_of(job)[static_cast<std::size_t>(start.option)];
  const Seconds end = start.start + option.duration;
  const double rent = rent_of(problem_, option, prices.curves,
                              problem_.pools[start.pool.index()].curve, start.start, end);
  if (rent <= 0.0) return start.start;
  Seconds latest = std::min(end + option.duration / kDelayShare, job.deadline);
  double slope = 0.0;
  for (const berth::horizon::CostPiece& piece : problem_.cost_of(option)) {
    if (piece.after < end) slope = piece.slope;
    if (piece.after >= end) latest = std::min(latest, piece.after);
  }
  if (latest <= end) return start.start;
  const double weight = kDelayWeight * slope * static_cast<double>(option.duration) / rent;
  return built_.timeline().suited_start(option, start.pool, start.start, latest - option.duration,
                                        weight);
}

void ListPlanner::keep(const berth::horizon::Plan& plan) {
  std::vector<JobId> order;
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    if (plan.starts[j].placed()) order.emplace_back(j);
  }
  std::ranges::stable_sort(order, {}, [&](JobId job) { return plan.starts[job.index()].start; });
  for (const JobId id : order) {
    const JobStart& start = plan.starts[id.index()];
    const std::optional<Job> job = between_neighbours(id);
    if (!job || start.start < job->release) continue;
    const Option& option = problem_.options_of(*job)[static_cast<std::size_t>(start.option)];
    if (start.start + option.duration > job->deadline) continue;
    const auto shares = start.shares.of(plan.shares);
    (void)built_.restore_if_free(
        {.job = id, .start = start, .shares = {shares.begin(), shares.end()}});
  }
}

double ListPlanner::shift_left(JobId id) {
  const std::optional<Job> job = between_neighbours(id);
  if (!job) return 0.0;
  const bool placed = built_.start_of(id).placed();
  const double cost = placed || !job->required ? built_.cost_of(id) : kInfinity;
  RemovedJob before;
  if (placed) before = built_.remove(id);
  const Place best = earliest_place(*job, nullptr, cost);
  if (best.start.placed()) {
    built_.place(id, best.start);
    return cost - best.cost;
  }
  if (placed) built_.restore(std::move(before));
  return 0.0;
}

}  // namespace berth::solver::horizon_plan
