// SPDX-License-Identifier: Apache-2.0
#include "horizon/cost_shares.hpp"
#include "horizon/gang_multiples.hpp"
#include "horizon/gang_sizes.hpp"
#include "horizon/price_search.hpp"
#include "horizon/smoothed_dual.hpp"
#include "horizon/start_prices.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/parallel/loops.hpp"
#include "berth/solver/horizon_bound.hpp"

namespace berth::solver {
namespace horizon_plan {
namespace {

using berth::horizon::MultipleOfGpus;
using berth::horizon::Problem;

/// Up to so many jobs, both starts are searched from; their search takes next to no time.
constexpr std::size_t kFewJobs = 2000;
/// From prices that are nearly right already, hotter smoothing only leads away.
constexpr double kColder = 0.1;
/// Iterations at one temperature for prices on one interval; untuned guard.
constexpr int kWholeIterations = 40;
constexpr int kShareRounds = 2;  ///< of `shares_along`; chosen, not tuned

/// Costs that rise for ever (flow) need colder smoothing than costs that saturate (values), in
/// parts of their rise over the horizon.
std::vector<double> default_temperatures(const Problem& problem) {
  const bool rising = std::ranges::any_of(problem.jobs, [&](const auto& job) {
    const auto options = problem.options_of(job);
    return !options.empty() && problem.cost_of(options.front()).back().slope > 0.0;
  });
  if (rising) return {3e-4, 1e-4, 3e-5, 1e-5};
  return {0.03, 0.01, 0.003, 0.001};
}

bool all_required(const Problem& problem) {
  return std::ranges::all_of(problem.jobs, [](const auto& job) { return job.required; });
}

/// Prices of every curve that are linear over the whole grid: where gains are lost at one common
/// time, prices are nearly constant until then, and far from those of a WSPT plan.
EndPrices prices_on_one_interval(const Problem& problem,
                                 const std::vector<NearlyEqualJobs>& classes, const PriceGrid& grid,
                                 std::span<const double> from, std::span<const double> temperatures,
                                 DualRanks* ranks, const StopToken& stop) {
  const PriceGrid whole{grid.front(), grid.back()};
  const std::size_t count = 2 * (grid.size() - 1);
  EndPrices ends;
  for (std::size_t c = 0; c < free_curves(problem); ++c) {
    const auto of_curve = from.subspan(c * count, count);
    double mean = 0.0;
    for (const double price : of_curve) mean += price / static_cast<double>(count);
    ends.insert(ends.end(), {mean, mean});
  }
  ends.resize(ends.size() + problem.budgets.size(), 0.0);
  const SmoothedDual dual(problem, whole, classes, ranks);
  std::vector<double> all(temperatures.begin(), temperatures.end());
  all.push_back(kColder * all.back());
  for (const double temperature : all) {
    (void)minimise_at(dual, temperature, ends, {.iterations = kWholeIterations}, stop);
  }
  EndPrices spread;
  const auto span = static_cast<double>(grid.back() - grid.front());
  for (std::size_t c = 0; c < free_curves(problem); ++c) {
    const auto price = [&](Seconds t) {
      const double at = static_cast<double>(t - grid.front()) / span;
      return (1.0 - at) * ends[2 * c] + at * ends[2 * c + 1];
    };
    for (std::size_t k = 0; k + 1 < grid.size(); ++k) {
      spread.insert(spread.end(), {price(grid[k]), price(grid[k + 1])});
    }
  }
  spread.insert(spread.end(), ends.end() - std::ssize(problem.budgets), ends.end());
  return spread;
}

/// Shares of costs along the dependencies; which of the jobs that a job waits for is the last to
/// complete depends on them.
std::vector<berth::horizon::CostShare> shares_along(const Problem& problem) {
  std::vector<berth::horizon::CostShare> shares;
  if (problem.dependencies.empty()) return shares;
  for (int i = 0; i < kShareRounds; ++i) {
    const Problem priced = with_shared_costs(problem, shares);
    shares = shares_by_density(problem, list_plan(priced, wspt_order(priced, kLongDelay)));
  }
  return shares;
}

}  // namespace

double exact_dual(const Problem& problem, const PriceGrid& grid, std::span<const double> ends) {
  const std::vector<PriceCurve> curves = curves_of(problem, grid, ends);
  const auto curves_of_set = curves_of_pool_sets(problem);
  std::vector<double> least(problem.jobs.size(), 0.0);
  parallel::sweep(problem.jobs.size(), [&](std::size_t j) {
    thread_local std::vector<Candidate> candidates;
    least[j] = collect_candidates(problem, problem.jobs[j], curves, curves_of_set, 0.0, candidates);
  });
  double bound = 0.0;
  for (const double cost : least) {
    if (cost < kInfinity) bound += cost;  // a job that cannot run counts on neither side
  }
  const SmoothedDual capacity_only(problem, grid, {});
  for (std::size_t i = 0; i < ends.size(); ++i) bound -= capacity_only.capacity()[i] * ends[i];
  return bound;
}

HorizonBound minimise_prices(const Problem& problem, const HorizonBoundOptions& options,
                             const StopToken& stop) {
  const auto plan = list_plan(problem, wspt_order(problem, kLongDelay));
  HorizonBound best{.grid = price_grid(problem, plan, options.intervals),
                    .ends = {},
                    .budgets = problem.budgets.size(),
                    .list_cost = berth::horizon::cost_of(problem, plan)};
  EndPrices ends = start_prices(problem, plan, best.grid);
  best.ends.assign(ends.size(), 0.0);
  best.bound = exact_dual(problem, best.grid, best.ends);
  if (problem.jobs.empty()) return best;
  const Seconds span = best.grid.back() - best.grid.front();
  const auto classes = merge_similar_jobs(problem, span, options.merge_tolerance);
  auto temperatures =
      options.temperatures.empty() ? default_temperatures(problem) : options.temperatures;
  const auto consider = [&](std::span<const double> prices) {
    const double bound = exact_dual(problem, best.grid, prices);
    if (bound <= best.bound) return;
    best.bound = bound;
    best.ends.assign(prices.begin(), prices.end());
  };
  consider(ends);
  const double of_plan = best.bound;
  if (options.flat_start) {
    consider(prices_on_one_interval(problem, classes, best.grid, ends, temperatures, options.ranks,
                                    stop));
  }
  const bool flat = best.bound > of_plan && !all_required(problem);
  best.temperature = temperatures.back();
  const SmoothedDual dual(problem, best.grid, classes, options.ranks);
  if (flat && problem.jobs.size() > kFewJobs) {
    ends = best.ends;
    temperatures = {kColder * temperatures.back()};
  }
  for (const double temperature : temperatures) {
    if (stop.requested()) break;
    best.evaluations +=
        minimise_at(dual, temperature, ends, {.iterations = options.iterations}, stop);
    consider(ends);
  }
  return best;
}

/// Prices move with each of few large gangs: on a finer grid, and with prices of whole multiples,
/// they prove more.
void prove_finer(const Problem& problem, HorizonBound& best, HorizonBoundOptions options,
                 const StopToken& stop) {
  constexpr int kFiner = 16;        // chosen, Kalos (decision 116)
  constexpr int kIterations = 120;  // prices of multiples settle slowly; chosen, the same
  options.intervals *= kFiner;
  const Problem shared = with_shared_costs(problem, best.shares);
  const auto consider = [&](const std::vector<MultipleOfGpus>& multiples, int iterations) {
    options.iterations = iterations;
    HorizonBound fine = minimise_prices(with_rents(shared, best.sizes, multiples), options, stop);
    if (fine.bound <= best.bound) return;
    best.bound = fine.bound;
    best.proof = {std::move(fine.grid), std::move(fine.ends), multiples};
  };
  consider({}, options.iterations);
  const auto multiples = multiples_of_gangs(problem);
  if (!multiples.empty() && !stop.requested()) consider(multiples, kIterations);
}

}  // namespace horizon_plan

double exact_dual(const berth::horizon::Problem& problem,
                  const std::vector<berth::horizon::Seconds>& grid,
                  const std::vector<double>& ends) {
  return horizon_plan::exact_dual(problem, grid, ends);
}

HorizonBound bound_horizon(const berth::horizon::Problem& problem,
                           const HorizonBoundOptions& options, const StopToken& stop) {
  HorizonBound best = horizon_plan::minimise_prices(problem, options, stop);
  std::vector<berth::horizon::CostShare> shares = horizon_plan::shares_along(problem);
  if (!shares.empty() && !stop.requested()) {
    HorizonBound shared = horizon_plan::minimise_prices(
        horizon_plan::with_shared_costs(problem, shares), options, stop);
    shared.shares = std::move(shares);
    shared.list_cost = best.list_cost;
    if (shared.bound > best.bound) best = std::move(shared);
  }
  std::vector<berth::horizon::SizeFactor> sizes;
  if (options.large_gangs) sizes = horizon_plan::sizes_by_cutting_stock(problem);
  if (!sizes.empty() && !stop.requested()) {
    HorizonBound sized = horizon_plan::minimise_prices(
        horizon_plan::with_gang_sizes(horizon_plan::with_shared_costs(problem, best.shares), sizes),
        options, stop);
    sized.shares = best.shares;
    sized.list_cost = best.list_cost;
    sized.sizes = std::move(sizes);
    if (sized.bound > best.bound) best = std::move(sized);
  }
  if (options.large_gangs && horizon_plan::has_few_large_gangs(problem) && !stop.requested()) {
    horizon_plan::prove_finer(problem, best, options, stop);
  }
  return best;
}

berth::horizon::PriceCertificate certificate_of(const HorizonBound& bound) {
  constexpr double kUnit = static_cast<double>(1LL << berth::horizon::kPriceFractionBits);
  const bool finer = !bound.proof.grid.empty();
  const auto& grid = finer ? bound.proof.grid : bound.grid;
  const auto& ends = finer ? bound.proof.ends : bound.ends;
  berth::horizon::PriceCertificate certificate{.nodes = grid, .starts = {}, .slopes = {}};
  const std::size_t intervals = certificate.intervals();
  const std::size_t of_curves = ends.size() - bound.budgets;
  for (std::size_t i = 0; 2 * i < of_curves; ++i) {
    const std::int64_t start = std::llround(ends[2 * i] * kUnit);
    const std::int64_t end = std::llround(ends[2 * i + 1] * kUnit);
    const std::size_t k = i % intervals;
    const berth::horizon::Seconds length = grid[k + 1] - grid[k];
    std::int64_t slope = (end - start) / length;  // towards 0
    if (start + slope * length < 0) ++slope;
    certificate.starts.push_back(start);
    certificate.slopes.push_back(slope);
  }
  for (std::size_t i = of_curves; i < ends.size(); ++i) {
    certificate.budgets.push_back(std::llround(ends[i] * kUnit));
  }
  certificate.shares = bound.shares;
  certificate.sizes = bound.sizes;
  certificate.multiples = bound.proof.multiples;
  return certificate;
}

}  // namespace berth::solver
