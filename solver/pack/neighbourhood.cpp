// SPDX-License-Identifier: Apache-2.0
#include "neighbourhood.hpp"

#include "dive.hpp"
#include "refill.hpp"

#include <algorithm>
#include <numeric>

#include "berth/base/random.hpp"

namespace berth::solver {
namespace {

constexpr double kGain = 1e-7;
constexpr std::uint64_t kStage = 0x6E65;  ///< key of the draws
constexpr RelaxationLimits kLocalRelaxation{.gap = 1e-4, .rounds = 12};

/// Takes `count` copies, each drawn with the weight its pattern has left, out of usage.
void draw(Usage& usage, std::vector<std::int64_t> weight, std::int64_t count, std::uint64_t seed,
          std::uint64_t round, std::uint64_t part, Usage& freed) {
  std::int64_t total = std::accumulate(weight.begin(), weight.end(), std::int64_t{0});
  for (std::int64_t i = 0; i < count && total > 0; ++i) {
    auto at = static_cast<std::int64_t>(
        random_below(static_cast<std::uint64_t>(total),
                     {seed, kStage, round, part, static_cast<std::uint64_t>(i)}));
    std::size_t u = 0;
    while (at >= weight[u]) at -= weight[u++];
    --weight[u];
    --total;
    --usage[u].copies;
    freed.push_back({usage[u].pattern, 1});
  }
}

Usage free_some(const Problem& problem, Usage& usage, const NeighbourhoodLimits& limits,
                std::uint64_t round) {
  Usage freed;
  std::vector<std::int64_t> weight(usage.size());
  for (std::size_t u = 0; u < usage.size(); ++u) {
    const auto& state = problem.states[static_cast<std::size_t>(usage[u].pattern.state)];
    weight[u] = milli(problem, usage[u].pattern) < state.milli() ? usage[u].copies : 0;
  }
  draw(usage, weight, limits.machines / 2, limits.seed, round, 0, freed);
  for (std::size_t u = 0; u < usage.size(); ++u) weight[u] = usage[u].copies;
  const auto rest = limits.machines - static_cast<std::int64_t>(freed.size());
  draw(usage, weight, rest, limits.seed, round, 1, freed);
  tidy(freed);
  return freed;
}

}  // namespace

int search_neighbourhoods(const Problem& problem, Scope& scope, Usage& usage,
                          const std::vector<Pattern>& patterns, const NeighbourhoodLimits& limits) {
  double value = worth(problem, usage);
  int round = 0;
  for (; round < limits.rounds && value < limits.target; ++round) {
    Usage kept = usage;
    const Usage freed = free_some(problem, kept, limits, static_cast<std::uint64_t>(round));
    const double old = worth(problem, freed);
    Scope open = scope;
    for (const Used& u : freed) take(open, u.pattern, -u.copies);
    std::vector<Pattern> start;
    for (const Pattern& p : patterns) {
      if (copies_within(open, p) > 0) start.push_back(p);
    }
    for (const Used& u : freed) start.push_back(u.pattern);
    Relaxation local = relax(problem, open, std::move(start), kLocalRelaxation);
    if (local.bound <= old + kGain) continue;
    Usage again = dive(problem, open, std::move(local.patterns), std::move(local.usage)).usage;
    refill(problem, open, again);
    const double gain = worth(problem, again) - old;
    if (gain <= kGain) continue;
    kept.insert(kept.end(), again.begin(), again.end());
    tidy(kept);
    usage = std::move(kept);
    scope = std::move(open);
    value += gain;
  }
  return round;
}

}  // namespace berth::solver
