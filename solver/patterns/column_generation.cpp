// SPDX-License-Identifier: Apache-2.0
#include "column_generation.hpp"

#include "stopwatch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "berth/parallel/loops.hpp"

namespace berth::solver {
namespace {

constexpr std::int64_t kNoCap = 1 << 20;
/// Labels of a machine until the gap is below kNearlyDone. Decision 6: 1,000 need more rounds of
/// pricing (61 instead of 57), and 20,000 are no better.
constexpr std::size_t kQuickLabels = 5000;
/// Patterns of a bin type added in a round of pricing. Decision 6: the larger instance needs more
/// rounds with 5 or 20.
constexpr int kPatterns = 10;
/// Smallest relative gap that is closed: rounding of bound and master. Untuned guard.
constexpr double kBoundRounding = 1e-7;
/// Relative gap below which pricing uses all its labels. Chosen, not tuned.
constexpr double kNearlyDone = 3e-4;
/// The master is solved to at most the last gap divided by this. Decision 118: 8 and 10 take more
/// iterations in all.
constexpr double kGapToTolerance = 4.0;

/// sum_i d_i y_i: demand times price of the job types, in scaled value.
double jobs_bound(const ResidualProblem& residual, std::span<const double> price) {
  double bound = 0.0;
  for (std::size_t t = 0; t < price.size(); ++t) {
    bound += static_cast<double>(residual.demand[t]) * price[t];
  }
  return bound;
}

/// sum_p N_p V_p: machines of a bin type times the most that one of them can earn, scaled.
double machines_bound(const ResidualProblem& residual, const std::vector<PricingResult>& priced) {
  double bound = 0.0;
  for (std::size_t s = 0; s < priced.size(); ++s) {
    bound += static_cast<double>(residual.supply[s]) * from_profit(priced[s].bound);
  }
  return bound;
}

int add_all(RestrictedMaster& master, std::vector<PricingResult>& priced) {
  int added = 0;
  for (PricingResult& p : priced) added += master.add(std::move(p.patterns));
  return added;
}

std::vector<std::int64_t> copies_allowed(const ResidualProblem& residual, CopyLimit copies) {
  std::vector<std::int64_t> caps = residual.demand;
  for (std::int64_t& cap : caps) {
    if (cap > 0 && copies == CopyLimit::unlimited) cap = kNoCap;
  }
  return caps;
}

double rewards_open(const PackingProblem& problem, const ResidualProblem& residual) {
  double rewards = 0.0;
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    rewards += problem.types[t].reward * static_cast<double>(residual.demand[t]);
  }
  return rewards;
}

/// Work of one factorisation, n^3 / kFactor, in contents that pricing compares in equal time
/// (decision 22, "An end to packing"). kFactor: chosen, its measurement is not recorded.
std::int64_t work_of_iteration(std::size_t rows) {
  constexpr std::int64_t kFactor = 800;
  const auto n = static_cast<std::int64_t>(rows);
  return n * n * n / kFactor;
}

/// Effort of the next round: tolerance of the master (scaled value) and labels of the pricing.
struct PricingEffort {
  double tolerance = 0.0;
  std::size_t labels = kQuickLabels;
};

}  // namespace

std::vector<PricingResult> price_bins(const PackingProblem& problem,
                                      const ResidualProblem& residual,
                                      std::span<const double> type_price,
                                      std::span<const double> bin_price,
                                      std::span<const std::int64_t> caps,
                                      const PricingLimits& limits) {
  std::vector<PricingResult> priced(problem.bins.size());
  parallel::run_tasks(priced.size(), [&](std::size_t s) {
    if (residual.supply[s] <= 0) return;
    const auto items = pricing_items(problem, s, type_price, caps);
    const Profit threshold = to_profit(std::max(bin_price[s], 0.0));
    priced[s] = price_machine(problem, s, items, threshold, limits);
  });
  return priced;
}

Relaxation generate_columns(const PackingProblem& problem, const ResidualProblem& residual,
                            std::vector<MachinePattern> start, const RelaxationLimits& limits,
                            WorkBudget& budget) {
  Relaxation result;
  result.price.assign(problem.types.size(), 0.0);
  RestrictedMaster master(problem, residual);
  if (master.add(std::move(start)) == 0) return result;  // nothing fits anywhere
  const std::vector<std::int64_t> caps = copies_allowed(residual, limits.copies);
  const double rewards = rewards_open(problem, residual);

  double size = 0.0;
  for (std::size_t s = 0; s < problem.bins.size(); ++s) {
    size += static_cast<double>(residual.supply[s] * problem.bins[s].milli()) / 1000.0;
  }
  PricingEffort now{.tolerance = 0.1 * std::max(size, 1.0),
                    .labels = std::min(kQuickLabels, limits.labels)};
  result.bound = std::numeric_limits<double>::infinity();
  Stopwatch watch;
  for (result.rounds = 0; result.rounds < limits.rounds; ++result.rounds) {
    const int iterations = master.solve(now.tolerance).iterations;
    result.iterations += iterations;
    budget.spend(iterations * work_of_iteration(master.rows()));
    result.master_seconds += watch.lap();
    if (master.value() >= limits.enough) break;
    const std::vector<double> price = master.type_prices();
    auto priced =
        price_bins(problem, residual, price, master.bin_prices(), caps,
                   {.patterns = kPatterns, .labels = now.labels, .last_labels = limits.labels});
    for (const PricingResult& p : priced) budget.spend(p.work);
    result.pricing_seconds += watch.lap();
    const double machines = machines_bound(residual, priced);
    const double bound = jobs_bound(residual, price) + machines;
    if (bound < result.bound) {
      result.bound = bound;
      result.machines_bound = machines;
      result.price = price;
      result.worth.clear();
      for (const PricingResult& p : priced) result.worth.push_back(from_profit(p.bound));
    }
    const double gap = result.bound - master.value();
    const double real = std::max(result.bound - rewards, 0.0);
    const double wanted =
        std::max(limits.gap * real + limits.tolerance, kBoundRounding * result.bound);
    if (gap <= wanted || budget.exhausted(limits.work)) break;
    if (gap < std::max(kNearlyDone * real, wanted)) now.labels = limits.labels;
    const int added = add_all(master, priced);
    if (added == 0 && now.tolerance <= 0.02 * wanted && now.labels == limits.labels) break;
    if (added == 0) {
      now.labels = limits.labels;
      now.tolerance /= 5.0;
    }
    now.tolerance = std::max(std::min(now.tolerance, gap / kGapToTolerance),
                             (added == 0 ? 0.01 : 0.2) * wanted);
  }
  master.crossover();
  result.value = master.value();
  result.usage = master.usage();
  result.patterns = master.take_patterns();
  result.master_seconds += watch.lap();
  return result;
}

}  // namespace berth::solver
