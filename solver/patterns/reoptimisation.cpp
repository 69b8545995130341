// SPDX-License-Identifier: Apache-2.0
#include "reoptimisation.hpp"

#include "pricing.hpp"

#include <algorithm>
#include <numeric>

namespace berth::solver {
namespace {

constexpr PricingLimits kLimits{.patterns = 1, .labels = 20000, .last_labels = 20000};
constexpr double kGain = 1e-7;  ///< scaled; less is rounding

bool required_open(const Problem& problem, const Scope& scope) {
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    if (scope.demand[t] > 0 && problem.types[t].reward > 0.0) return true;
  }
  return false;
}

/// Some open job could take what the machine has idle.
bool promising(const Problem& problem, const Scope& scope, std::size_t state, std::int64_t idle) {
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    if (scope.demand[t] > 0 && fits(problem.types[t], problem.states[state]) &&
        (idle > 0 || !problem.types[t].shape.uses_gpu())) {
      return true;
    }
  }
  return false;
}

/// The best content of one machine out of the open jobs, when it is worth more than `beat`.
std::vector<Pattern> best_content(const Problem& problem, const Scope& scope, std::size_t state,
                                  double beat) {
  const std::vector<double> free(problem.types.size(), 0.0);
  const auto items = items_of(problem, state, free, scope.demand);
  Priced priced = price_machine(problem, state, items, to_profit(beat + kGain), kLimits);
  problem.work += priced.work;
  return std::move(priced.patterns);
}

}  // namespace

Usage fill_in_order(const Problem& problem, Scope& scope, std::span<const std::size_t> states) {
  Usage usage;
  for (const std::size_t s : states) {
    while (scope.supply[s] > 0 && !problem.over()) {
      const auto found = best_content(problem, scope, s, 0.0);
      if (found.empty()) break;
      const std::int64_t n = copies_within(scope, found.front());
      if (n <= 0) break;
      take(scope, found.front(), n);
      usage.push_back({found.front(), n});
    }
  }
  return usage;
}

double refill(const Problem& problem, Scope& scope, Usage& usage) {
  double gain = 0.0;
  std::vector<std::size_t> states(problem.states.size());
  std::iota(states.begin(), states.end(), std::size_t{0});
  Usage fresh = fill_in_order(problem, scope, states);
  gain += worth(problem, fresh);
  for (Used& used : usage) {
    if (problem.over()) break;
    const auto state = static_cast<std::size_t>(used.pattern.state);
    const std::int64_t idle = problem.states[state].milli() - milli(problem, used.pattern);
    if (idle == 0 && !required_open(problem, scope)) continue;
    const double old = worth(problem, used.pattern);
    while (used.copies > 0 && promising(problem, scope, state, idle) && !problem.over()) {
      take(scope, used.pattern, -1);
      const auto found = best_content(problem, scope, state, old);
      if (found.empty() || copies_within(scope, found.front()) == 0) {
        take(scope, used.pattern, 1);
        break;
      }
      take(scope, found.front(), 1);
      --used.copies;
      fresh.push_back({found.front(), 1});
      gain += worth(problem, found.front()) - old;
    }
  }
  usage.insert(usage.end(), std::make_move_iterator(fresh.begin()),
               std::make_move_iterator(fresh.end()));
  tidy(usage);
  return gain;
}

}  // namespace berth::solver
