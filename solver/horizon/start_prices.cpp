// SPDX-License-Identifier: Apache-2.0
#include "horizon/start_prices.hpp"

#include "horizon/list_planner.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "berth/base/assert.hpp"
#include "berth/horizon/pool_timeline.hpp"

namespace berth::solver::horizon_plan {
namespace {

using berth::horizon::Option;
using berth::horizon::Plan;
using berth::horizon::Problem;

/// Below this share of its capacity in use, GPU time of a curve is free in the start prices.
constexpr double kBusyShare = 0.75;
/// Changes of capacity below this share get no node.
constexpr double kLeastChange = 0.01;
/// Times at which a smaller share of all gains is lost get no node.
constexpr double kLeastLoss = 0.01;
/// Ratio of neighbouring geometric intervals: 16 of them span a factor of 650.
constexpr double kGridRatio = 1.5;

Seconds last_completion(const Problem& problem, const Plan& plan) {
  Seconds last = problem.now + 1;
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    if (plan.starts[j].placed()) last = std::max(last, end_of(problem, JobId(j), plan.starts[j]));
  }
  return last;
}

void add_geometric(Seconds now, Seconds end, int count, PriceGrid& nodes) {
  const double span = static_cast<double>(end - now);
  const double total = std::pow(kGridRatio, count) - 1.0;
  for (int i = 0; i <= count; ++i) {
    nodes.push_back(now + std::llround(span * (std::pow(kGridRatio, i) - 1.0) / total));
  }
}

void add_event_quantiles(const Problem& problem, const Plan& plan, int count, PriceGrid& nodes) {
  std::vector<Seconds> events;
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    if (!plan.starts[j].placed()) continue;
    events.push_back(plan.starts[j].start);
    events.push_back(end_of(problem, JobId(j), plan.starts[j]));
  }
  if (events.empty()) return;
  std::ranges::sort(events);
  const auto n = static_cast<std::size_t>(count);
  for (std::size_t i = 1; i < n; ++i) nodes.push_back(events[events.size() * i / n]);
}

/// Times where a curve's capacity changes, the largest changes (in shares) first.
std::vector<std::pair<double, Seconds>> capacity_changes(const Problem& problem) {
  std::vector<double> whole(problem.curves, 1.0);
  std::map<Seconds, std::vector<double>> change;
  for (const auto& pool : problem.pools) {
    for (std::size_t s = 0; s < pool.capacity.size(); ++s) {
      const auto gpus = static_cast<double>(pool.capacity[s].gpus);
      const double before = s == 0 ? 0.0 : static_cast<double>(pool.capacity[s - 1].gpus);
      if (s == 0) whole[pool.curve.index()] += gpus;
      auto& at = change.try_emplace(pool.capacity[s].from, problem.curves, 0.0).first->second;
      at[pool.curve.index()] += gpus - before;
    }
  }
  std::vector<std::pair<double, Seconds>> result;
  for (const auto& [time, by_curve] : change) {
    double largest = 0.0;
    for (std::size_t c = 0; c < problem.curves; ++c) {
      largest = std::max(largest, std::abs(by_curve[c]) / whole[c]);
    }
    if (largest >= kLeastChange) result.emplace_back(largest, time);
  }
  std::ranges::stable_sort(result, std::greater<>{}, [](const auto& c) { return c.first; });
  return result;
}

/// Times at which at least kLeastLoss of all gains are lost, the largest losses first. Behind the
/// last of them jobs would find time without rent that is worth something.
std::vector<std::pair<double, Seconds>> common_losses(const Problem& problem) {
  std::map<Seconds, double> loss;
  double all = 0.0;
  for (const auto& job : problem.jobs) {
    if (job.required || job.options.size() == 0) continue;
    const auto cost = problem.cost_of(problem.options_of(job).front());
    all -= std::min(0.0, cost.front().cost);
    for (std::size_t i = 1; i < cost.size(); ++i) {
      const auto length = static_cast<double>(cost[i].after - cost[i - 1].after);
      loss[cost[i].after] += cost[i].cost - cost[i - 1].cost - cost[i - 1].slope * length;
    }
  }
  std::vector<std::pair<double, Seconds>> result;
  for (const auto& [time, lost] : loss) {
    if (lost > 0.0 && lost >= kLeastLoss * all) result.emplace_back(lost, time);
  }
  std::ranges::stable_sort(result, std::greater<>{}, [](const auto& l) { return l.first; });
  return result;
}

/// Jobs of a plan on one curve: changes of GPUs in use, and of the cost of delay per second.
struct Usage {
  double gpus = 0.0;
  double delay_cost = 0.0;
};
using UsageChanges = std::map<Seconds, Usage>;

std::vector<UsageChanges> usage_changes(const Problem& problem, const Plan& plan, Seconds span) {
  std::vector<UsageChanges> changes(problem.curves);
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    const auto& start = plan.starts[j];
    if (!start.placed()) continue;
    const auto& job = problem.jobs[j];
    const Option& option = problem.options_of(job)[static_cast<std::size_t>(start.option)];
    const double gpus = gpus_of(option);
    const double delay_cost = cost_range(problem, job, span) / static_cast<double>(span) /
                              static_cast<double>(option.duration);
    UsageChanges& of_curve = changes[problem.pools[start.pool.index()].curve.index()];
    Usage& begin = of_curve[start.start];
    begin.gpus += gpus;
    begin.delay_cost += delay_cost;
    Usage& end = of_curve[start.start + option.duration];
    end.gpus -= gpus;
    end.delay_cost -= delay_cost;
  }
  return changes;
}

std::vector<double> mean_capacity(const Problem& problem) {
  std::vector<double> capacity(problem.curves, 0.0);
  for (const auto& pool : problem.pools) {
    capacity[pool.curve.index()] += static_cast<double>(pool.capacity.back().gpus);
  }
  return capacity;
}

/// Prices of one curve at the nodes.
std::vector<double> integrate_backwards(const UsageChanges& changes, double capacity,
                                        const PriceGrid& grid) {
  std::vector<double> at_node(grid.size(), 0.0);
  Usage usage;  // of the time just before `time`
  double price = 0.0;
  Seconds time = grid.back();
  auto change = changes.rbegin();
  const auto pass = [&](Seconds to) {
    const bool busy = usage.gpus >= kBusyShare * capacity && usage.gpus > 0.5;
    price = busy ? price + usage.delay_cost / usage.gpus * static_cast<double>(time - to) : 0.0;
    time = to;
  };
  for (std::size_t k = grid.size(); k-- > 0;) {
    for (; change != changes.rend() && change->first >= grid[k]; ++change) {
      if (change->first < time) pass(change->first);
      usage.gpus -= change->second.gpus;
      usage.delay_cost -= change->second.delay_cost;
    }
    if (grid[k] < time) pass(grid[k]);
    at_node[k] = price;
  }
  return at_node;
}

}  // namespace

std::vector<JobId> wspt_order(const Problem& problem, Seconds span) {
  std::vector<double> density(problem.jobs.size(), 0.0);
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    double least = kInfinity;
    for (const Option& option : problem.options_of(problem.jobs[j])) {
      least = std::min(least, gpus_of(option) * static_cast<double>(option.duration));
    }
    density[j] = cost_range(problem, problem.jobs[j], span) / std::max(least, 1.0);
  }
  std::vector<JobId> order;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) order.emplace_back(j);
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](JobId job) { return density[job.index()]; });
  return order;
}

Plan list_plan(const Problem& problem, std::span<const JobId> order) {
  berth::horizon::PoolTimeline timeline(problem);
  ListPlanner planner(problem, timeline);
  for (const JobId job : planner.dependencies().ordered(order)) (void)planner.shift_left(job);
  return planner.built().plan();
}

PriceGrid price_grid(const Problem& problem, const Plan& plan, int intervals) {
  BERTH_EXPECT(intervals >= 4);
  PriceGrid nodes;
  Seconds end = last_completion(problem, plan);
  auto losses = common_losses(problem);
  losses.resize(std::min(losses.size(), static_cast<std::size_t>(intervals) / 4));
  for (const auto& [lost, time] : losses) {
    nodes.push_back(time);
    end = std::max(end, time);
  }
  add_geometric(problem.now, end, intervals / 2, nodes);
  add_event_quantiles(problem, plan, intervals - intervals / 2, nodes);
  if (!problem.budgets.empty()) nodes.push_back(problem.budgets_end);
  const auto changes = capacity_changes(problem);
  const std::size_t most = std::min(changes.size(), static_cast<std::size_t>(intervals) / 4);
  for (std::size_t i = 0; i < most; ++i) nodes.push_back(changes[i].second);
  std::erase_if(nodes, [&](Seconds t) { return t < problem.now || t > end; });
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  return nodes;
}

EndPrices start_prices(const Problem& problem, const Plan& plan, const PriceGrid& grid) {
  const auto changes = usage_changes(problem, plan, grid.back() - grid.front());
  const std::vector<double> capacity = mean_capacity(problem);
  EndPrices ends;
  for (std::size_t c = 0; c < problem.curves; ++c) {
    const std::vector<double> at_node = integrate_backwards(changes[c], capacity[c], grid);
    for (std::size_t k = 0; k + 1 < grid.size(); ++k) {
      ends.push_back(at_node[k]);
      ends.push_back(at_node[k + 1]);
    }
  }
  ends.resize(2 * free_curves(problem) * (grid.size() - 1) + problem.budgets.size(), 0.0);
  return ends;
}

}  // namespace berth::solver::horizon_plan
