// SPDX-License-Identifier: Apache-2.0
#include "initial_patterns.hpp"

#include "balanced_patterns.hpp"
#include "partial_fill.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "berth/parallel/loops.hpp"

namespace berth::solver {
namespace {

/// Job types by descending GPUs of a task; ties by descending CPU (`cpu_sign` > 0) or ascending.
std::vector<std::int32_t> by_size(const PackingProblem& problem, int cpu_sign) {
  std::vector<std::int32_t> order(problem.types.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::int32_t t) {
    const JobType& type = problem.types[static_cast<std::size_t>(t)];
    return std::tuple(-type.reward, -type.shape.total_milli(),
                      cpu_sign * type.shape.needs[model::kCpu], t);
  });
  return order;
}

/// Appends patterns that cover the open demand: fills one machine after the other and uses each
/// content as often as demand and supply admit.
void cover_demand(const PackingProblem& problem, ResidualProblem residual,
                  std::span<const std::int32_t> order, std::vector<MachinePattern>& patterns) {
  for (std::size_t s = 0; s < problem.bins.size(); ++s) {
    while (residual.supply[s] > 0) {
      MachinePattern p = fill_machine(problem, s, residual, order);
      if (p.tasks.empty()) break;
      take(residual, p, copies_within(residual, p));
      patterns.push_back(std::move(p));
    }
  }
}

}  // namespace

MachinePattern fill_machine(const PackingProblem& problem, std::size_t bin,
                            const ResidualProblem& residual, std::span<const std::int32_t> order) {
  const BinType& s = problem.bins[bin];
  PartialFill machine(s);
  std::vector<TypeCount> tasks;
  for (const std::int32_t t : order) {
    const auto type = static_cast<std::size_t>(t);
    if (!fits(problem.types[type], s)) continue;
    const bool twice = std::ranges::any_of(tasks, [&](const TypeCount& c) { return c.type == t; });
    std::int32_t count = 0;
    while (!twice && count < residual.demand[type] && machine.put(t, problem.types[type].shape))
      ++count;
    if (count > 0) tasks.push_back({t, count});
  }
  return std::move(machine).pattern(bin, std::move(tasks));
}

std::vector<MachinePattern> initial_patterns(const PackingProblem& problem,
                                             const ResidualProblem& residual) {
  std::vector<MachinePattern> patterns;
  const auto descending = by_size(problem, -1);
  cover_demand(problem, residual, descending, patterns);
  cover_demand(problem, residual, by_size(problem, 1), patterns);
  if (problem.types.size() > kManyTypes) {
    for (PatternUse& used : balanced_patterns(problem, most_valuable(problem, residual))) {
      patterns.push_back(std::move(used.pattern));
    }
  }
  std::vector<std::vector<MachinePattern>> by_bin(problem.bins.size());
  parallel::run_tasks(problem.bins.size(), [&](std::size_t s) {
    if (residual.supply[s] == 0) return;
    for (std::size_t t = 0; t < problem.types.size(); ++t) {
      if (residual.demand[t] == 0 || !fits(problem.types[t], problem.bins[s])) continue;
      std::vector<std::int32_t> order{static_cast<std::int32_t>(t)};
      order.insert(order.end(), descending.begin(), descending.end());
      by_bin[s].push_back(fill_machine(problem, s, residual, order));
    }
  });
  for (auto& some : by_bin) {
    patterns.insert(patterns.end(), std::make_move_iterator(some.begin()),
                    std::make_move_iterator(some.end()));
  }
  return patterns;
}

}  // namespace berth::solver
