// SPDX-License-Identifier: Apache-2.0
#include "horizon/gang_sizes.hpp"

#include "horizon/cutting_stock.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace berth::solver::horizon_plan {
namespace {

using berth::horizon::CapacityStep;
using berth::horizon::Gpus;
using berth::horizon::kRentUnit;
using berth::horizon::Option;
using berth::horizon::Pool;
using berth::horizon::Problem;
using berth::horizon::rent_of_gpus;
using berth::horizon::SizeFactor;

/// Gangs of a smaller part of a pool lose less than this part of it.
constexpr Gpus kSmallPart = 16;
constexpr std::size_t kMostSizes = 64;
constexpr std::int64_t kMostCells = std::int64_t{1} << 22;  ///< sizes x GPUs; untuned guard

Gpus most_gpus(const Pool& pool) {
  Gpus most = 0;
  for (const CapacityStep& step : free_gpus(pool)) most = std::max(most, step.gpus);
  return most;
}

std::int64_t rent_of_gang(Gpus gpus, std::size_t curve, std::span<const SizeFactor> sizes) {
  std::int64_t rent = 0;
  for (const SizeFactor& size : sizes) {
    if (size.curve == curve) rent = std::max(rent, gpus / size.gpus * size.factor);
  }
  return rent;
}

}  // namespace

bool pays_for_gpus(const Problem& problem) {
  const bool one_curve = std::ranges::all_of(problem.pool_sets, [&](const auto& pools) {
    return std::ranges::all_of(pools, [&](PoolId pool) {
      return problem.pools[pool.index()].curve == problem.pools[pools.front().index()].curve;
    });
  });
  return one_curve && std::ranges::all_of(problem.options, [](const Option& option) {
           return option.rent == rent_of_gpus(option.gpus, option.share_milli);
         });
}

std::size_t curve_of(const Problem& problem, const Option& option) {
  return problem.pools[problem.pools_of(option).front().index()].curve.index();
}

std::vector<CapacityStep> free_gpus(const Pool& pool) {
  std::vector<CapacityStep> steps = pool.worth.empty() ? pool.capacity : pool.worth;
  for (CapacityStep& step : steps) {
    if (!pool.worth.empty()) step.gpus = (step.gpus + kRentUnit - 1) / kRentUnit;
    step.gpus = std::max<Gpus>(0, step.gpus);
  }
  return steps;
}

std::vector<Gpus> largest_pools(const Problem& problem) {
  std::vector<Gpus> largest(problem.curves, 0);
  for (const Pool& pool : problem.pools) {
    Gpus& most = largest[pool.curve.index()];
    most = std::max(most, most_gpus(pool));
  }
  return largest;
}

bool has_few_large_gangs(const Problem& problem) {
  constexpr std::size_t kFewJobs = 1000;
  if (problem.jobs.size() > kFewJobs) return false;
  Gpus largest = 0, gang = 0;
  for (const Pool& pool : problem.pools) largest = std::max(largest, pool.capacity.back().gpus);
  for (const Option& option : problem.options) gang = std::max<Gpus>(gang, option.gpus);
  return gang * kSmallPart >= largest;
}

std::vector<SizeFactor> sizes_by_cutting_stock(const Problem& problem) {
  if (!pays_for_gpus(problem)) return {};
  std::vector<std::map<Gpus, double>> work(problem.curves);  // seconds by size
  for (const auto& job : problem.jobs) {
    for (const Option& option : problem.options_of(job)) {
      if (problem.pools_of(option).empty() || option.gpus == 0) continue;
      const auto seconds = static_cast<double>(option.duration);
      work[curve_of(problem, option)][option.gpus] += seconds;
    }
  }
  const std::vector<Gpus> pools = largest_pools(problem);
  std::vector<SizeFactor> factors;
  for (std::size_t c = 0; c < problem.curves; ++c) {
    std::erase_if(work[c], [&](const auto& entry) { return entry.first > pools[c]; });
    const std::int64_t cells = std::ssize(work[c]) * pools[c];
    if (work[c].empty() || work[c].size() > kMostSizes || cells > kMostCells) continue;
    if (work[c].rbegin()->first * kSmallPart < pools[c]) continue;
    double all = 0.0;
    for (const auto& [gpus, seconds] : work[c]) all += seconds;
    std::vector<Gpus> sizes;
    std::vector<double> demand;
    for (const auto& [gpus, seconds] : work[c]) {
      sizes.push_back(gpus);
      demand.push_back(seconds / all);
    }
    const std::vector<double> prices = cutting_stock_prices(sizes, demand, pools[c]);
    for (std::size_t s = 0; s < prices.size(); ++s) {
      const double gpus = prices[s] * static_cast<double>(pools[c] * kRentUnit);
      factors.push_back({c, sizes[s], std::max<std::int64_t>(0, std::llround(gpus))});
    }
  }
  return factors;
}

Problem with_gang_sizes(Problem problem, std::span<const SizeFactor> sizes) {
  const std::vector<Gpus> largest = largest_pools(problem);
  for (std::size_t c = 0; c < problem.curves; ++c) {
    std::vector<Gpus> gpus;
    std::vector<double> prices;
    for (const SizeFactor& size : sizes) {
      if (size.curve != c) continue;
      gpus.push_back(size.gpus);
      prices.push_back(static_cast<double>(size.factor));
    }
    if (gpus.empty()) continue;
    const auto best = best_fills(gpus, prices, largest[c]);
    for (Pool& pool : problem.pools) {
      if (pool.curve.index() != c) continue;
      pool.worth = free_gpus(pool);
      for (CapacityStep& step : pool.worth) {
        step.gpus = std::llround(best[static_cast<std::size_t>(step.gpus)].worth);
      }
    }
    for (Option& option : problem.options) {
      if (problem.pools_of(option).empty() || curve_of(problem, option) != c) continue;
      option.rent = rent_of_gang(option.gpus, c, sizes);
    }
  }
  return problem;
}

}  // namespace berth::solver::horizon_plan
