// SPDX-License-Identifier: Apache-2.0
#include "reoptimisation.hpp"

#include "pricing.hpp"

#include <algorithm>
#include <numeric>

namespace berth::solver {
namespace {

/// Pricing of one machine for its best content. 20,000 labels: chosen, not tuned.
constexpr PricingLimits kLimits{.patterns = 1, .labels = 20000, .last_labels = 20000};
constexpr double kGain = 1e-7;  ///< scaled value; a smaller gain is rounding. Untuned guard

bool required_open(const PackingProblem& problem, const ResidualProblem& residual) {
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    if (residual.demand[t] > 0 && problem.types[t].reward > 0.0) return true;
  }
  return false;
}

/// True when some open job could use the idle capacity of a machine of this bin type.
/// @param idle  free thousandths of GPUs
bool promising(const PackingProblem& problem, const ResidualProblem& residual, std::size_t bin,
               std::int64_t idle) {
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    if (residual.demand[t] > 0 && fits(problem.types[t], problem.bins[bin]) &&
        (idle > 0 || !problem.types[t].shape.uses_gpu())) {
      return true;
    }
  }
  return false;
}

/// The best content of one machine made of open jobs; empty if its value is not above `beat`
/// (scaled).
std::vector<MachinePattern> best_content(const PackingProblem& problem,
                                         const ResidualProblem& residual, std::size_t bin,
                                         double beat, WorkBudget& budget) {
  const std::vector<double> free(problem.types.size(), 0.0);
  const auto items = pricing_items(problem, bin, free, residual.demand);
  PricingResult priced = price_machine(problem, bin, items, to_profit(beat + kGain), kLimits);
  budget.spend(priced.work);
  return std::move(priced.patterns);
}

}  // namespace

Usage fill_in_order(const PackingProblem& problem, ResidualProblem& residual,
                    std::span<const std::size_t> bins, WorkBudget& budget) {
  Usage usage;
  for (const std::size_t s : bins) {
    while (residual.supply[s] > 0 && !budget.exhausted()) {
      const auto found = best_content(problem, residual, s, 0.0, budget);
      if (found.empty()) break;
      const std::int64_t n = copies_within(residual, found.front());
      if (n <= 0) break;
      take(residual, found.front(), n);
      usage.push_back({found.front(), n});
    }
  }
  return usage;
}

double reoptimise_machines(const PackingProblem& problem, ResidualProblem& residual, Usage& usage,
                           WorkBudget& budget) {
  double gain = 0.0;
  std::vector<std::size_t> bins(problem.bins.size());
  std::iota(bins.begin(), bins.end(), std::size_t{0});
  Usage fresh = fill_in_order(problem, residual, bins, budget);
  gain += value_of(problem, fresh);
  for (PatternUse& used : usage) {
    if (budget.exhausted()) break;
    const auto bin = static_cast<std::size_t>(used.pattern.bin);
    const std::int64_t idle = problem.bins[bin].milli() - milli(problem, used.pattern);
    if (idle == 0 && !required_open(problem, residual)) continue;
    const double old = value_of(problem, used.pattern);
    while (used.copies > 0 && promising(problem, residual, bin, idle) && !budget.exhausted()) {
      take(residual, used.pattern, -1);
      const auto found = best_content(problem, residual, bin, old, budget);
      if (found.empty() || copies_within(residual, found.front()) == 0) {
        take(residual, used.pattern, 1);
        break;
      }
      take(residual, found.front(), 1);
      --used.copies;
      fresh.push_back({found.front(), 1});
      gain += value_of(problem, found.front()) - old;
    }
  }
  usage.insert(usage.end(), std::make_move_iterator(fresh.begin()),
               std::make_move_iterator(fresh.end()));
  canonicalise(usage);
  return gain;
}

}  // namespace berth::solver
