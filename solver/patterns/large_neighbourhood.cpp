// SPDX-License-Identifier: Apache-2.0
#include "large_neighbourhood.hpp"

#include "pattern_dive.hpp"
#include "reoptimisation.hpp"

#include <algorithm>
#include <numeric>

#include "berth/base/random.hpp"

namespace berth::solver {
namespace {

// Chosen, not tuned, except kStage. Since decision 6 the search seldom starts.
constexpr int kFew = 6;                     ///< machines freed for repair_in_order
constexpr double kLeastGain = 1e-7;         ///< scaled value; a smaller gain is rounding
constexpr double kRounding = 1e-9;          ///< scaled value; a smaller loss is rounding
constexpr std::uint64_t kStage = 0x6E65;    ///< key of this search's draws: "ne" in ASCII
constexpr int kPricingRounds = 30;          ///< most rounds of pricing in one repair
constexpr std::size_t kManyLabels = 20000;  ///< most labels of a machine in thorough pricing

/// Key of the draws of one neighbourhood.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint64_t round = 0;
};

/// Moves `count` copies from `usage` to `freed`, each drawn with probability proportional to the
/// remaining weight of its pattern.
/// @param part  number of this call within the round
void draw(Usage& usage, std::vector<std::int64_t> weight, std::int64_t count, const DrawKey& key,
          std::uint64_t part, Usage& freed) {
  std::int64_t total = std::accumulate(weight.begin(), weight.end(), std::int64_t{0});
  for (std::int64_t i = 0; i < count && total > 0; ++i) {
    auto at = static_cast<std::int64_t>(
        random_below(static_cast<std::uint64_t>(total),
                     {key.seed, kStage, key.round, part, static_cast<std::uint64_t>(i)}));
    std::size_t u = 0;
    while (at >= weight[u]) at -= weight[u++];
    --weight[u];
    --total;
    --usage[u].copies;
    freed.push_back({usage[u].pattern, 1});
  }
}

Usage destroy_some(const PackingProblem& problem, Usage& usage, int machines, const DrawKey& key) {
  Usage freed;
  std::vector<std::int64_t> weight(usage.size());
  for (std::size_t u = 0; u < usage.size(); ++u) {
    const auto& bin = problem.bins[static_cast<std::size_t>(usage[u].pattern.bin)];
    weight[u] = milli(problem, usage[u].pattern) < bin.milli() ? usage[u].copies : 0;
  }
  draw(usage, weight, (machines + 1) / 2, key, 0, freed);
  for (std::size_t u = 0; u < usage.size(); ++u) weight[u] = usage[u].copies;
  const auto rest = machines - static_cast<std::int64_t>(freed.size());
  draw(usage, weight, rest, key, 1, freed);
  canonicalise(freed);
  return freed;
}

/// One step of the search: the kept and the freed usage, the open residual, and the value of what
/// was freed.
struct DestroyedPart {
  Usage kept, freed;
  ResidualProblem open;
  double old = 0.0;  ///< scaled
};

DestroyedPart destroy(const PackingProblem& problem, const ResidualProblem& residual,
                      const Usage& usage, int machines, const DrawKey& key) {
  DestroyedPart f{.kept = usage, .freed = {}, .open = residual};
  f.freed = destroy_some(problem, f.kept, machines, key);
  f.old = value_of(problem, f.freed);
  for (const PatternUse& u : f.freed) take(f.open, u.pattern, -u.copies);
  return f;
}

/// Accepts the repaired usage `again` if its value is not smaller. Equal values are accepted too,
/// so that the next step starts from another solution.
void keep_equal_or_better(const PackingProblem& problem, DestroyedPart&& f, Usage&& again,
                          ResidualProblem& residual, Usage& usage) {
  if (value_of(problem, again) < f.old - kRounding) return;
  f.kept.insert(f.kept.end(), again.begin(), again.end());
  canonicalise(f.kept);
  usage = std::move(f.kept);
  residual = std::move(f.open);
}

/// Arguments that both repairs share.
struct Search {
  const PackingProblem& problem;
  const NeighbourhoodLimits& limits;
  WorkBudget& budget;
};

/// Frees `limits.machines` machines and packs them anew by relaxation and dive.
void repair_by_relaxation(const Search& search, ResidualProblem& residual, Usage& usage,
                          const std::vector<MachinePattern>& patterns, std::uint64_t round) {
  const auto& [problem, limits, budget] = search;
  DestroyedPart f = destroy(problem, residual, usage, limits.machines, {limits.seed, 2 * round});
  std::vector<MachinePattern> start;
  for (const MachinePattern& p : patterns) {
    if (copies_within(f.open, p) > 0) start.push_back(p);
  }
  for (const PatternUse& u : f.freed) start.push_back(u.pattern);
  Relaxation local = generate_columns(
      problem, f.open, std::move(start),
      {.gap = 0.0, .tolerance = limits.tolerance, .rounds = kPricingRounds, .labels = kManyLabels},
      budget);
  if (local.bound <= f.old + kLeastGain) return;
  Usage again = dive_patterns(problem, f.open, std::move(local.patterns), std::move(local.usage),
                              limits.tolerance, budget)
                    .usage;
  reoptimise_machines(problem, f.open, again, budget);
  keep_equal_or_better(problem, std::move(f), std::move(again), residual, usage);
}

/// Frees kFew machines and packs them anew one by one, bin types in a drawn order.
void repair_in_order(const Search& search, ResidualProblem& residual, Usage& usage,
                     std::uint64_t round) {
  const auto& [problem, limits, budget] = search;
  DestroyedPart f = destroy(problem, residual, usage, kFew, {limits.seed, 2 * round + 1});
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < problem.bins.size(); ++s) {
    if (f.open.supply[s] > 0) order.push_back(s);
  }
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random_below(i, {limits.seed, kStage, round, 2, i})]);
  }
  Usage again = fill_in_order(problem, f.open, order, budget);
  keep_equal_or_better(problem, std::move(f), std::move(again), residual, usage);
}

}  // namespace

int large_neighbourhood_search(const PackingProblem& problem, ResidualProblem& residual,
                               Usage& usage, const std::vector<MachinePattern>& patterns,
                               const NeighbourhoodLimits& limits, WorkBudget& budget) {
  const Search search{problem, limits, budget};
  int round = 0;
  for (; round < limits.rounds && value_of(problem, usage) < limits.target; ++round) {
    if (budget.exhausted()) break;
    const auto key = static_cast<std::uint64_t>(round);
    repair_by_relaxation(search, residual, usage, patterns, key);
    repair_in_order(search, residual, usage, key);
  }
  return round;
}

}  // namespace berth::solver
