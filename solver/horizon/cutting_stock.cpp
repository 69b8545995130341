// SPDX-License-Identifier: Apache-2.0
#include "horizon/cutting_stock.hpp"

#include <algorithm>
#include <utility>

#include "berth/solver/packing_covering.hpp"

namespace berth::solver::horizon_plan {

using berth::horizon::Gpus;

namespace {

constexpr int kMostRounds = 60;           ///< of column generation
constexpr double kLeastStronger = 0.002;  ///< of the throughput that cutting stock proves less
constexpr double kPatternTolerance = 1e-6;

/// How many gangs of each size the best fill has.
std::vector<double> counts_of(const std::vector<Fill>& best, std::span<const Gpus> sizes) {
  std::vector<double> counts(sizes.size(), 0.0);
  for (std::size_t n = best.size() - 1; n > 0;) {
    const int last = best[n].last;
    if (last >= 0) counts[static_cast<std::size_t>(last)] += 1.0;
    n -= last >= 0 ? static_cast<std::size_t>(sizes[static_cast<std::size_t>(last)]) : 1;
  }
  return counts;
}

void add_pattern(PackingCoveringProgram& program, const std::vector<double>& counts) {
  PackingCoveringProgram::Column column{.cost = 1.0, .covering = {}, .packing = {}};
  for (std::size_t s = 0; s < counts.size(); ++s) {
    if (counts[s] > 0.0) column.covering.push_back({s, counts[s]});
  }
  (void)program.add_column(std::move(column));
}

}  // namespace

std::vector<Fill> best_fills(std::span<const Gpus> sizes, std::span<const double> prices,
                             Gpus gpus) {
  std::vector<Fill> best(static_cast<std::size_t>(gpus) + 1);
  for (std::size_t n = 1; n < best.size(); ++n) {
    best[n] = {best[n - 1].worth, -1};
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const auto size = static_cast<std::size_t>(sizes[s]);
      if (size > n || best[n - size].worth + prices[s] <= best[n].worth) continue;
      best[n] = {best[n - size].worth + prices[s], static_cast<int>(s)};
    }
  }
  return best;
}

std::vector<double> cutting_stock_prices(std::span<const Gpus> sizes,
                                         std::span<const double> demand, Gpus pool) {
  PackingCoveringProgram program;
  for (const double gangs : demand) (void)program.add_covering_row(gangs);
  double by_gpus = 0.0;
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    std::vector<double> counts(sizes.size(), 0.0);
    counts[s] = static_cast<double>(pool / sizes[s]);
    add_pattern(program, counts);
    by_gpus += demand[s] * static_cast<double>(sizes[s]) / static_cast<double>(pool);
  }
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<double> prices = solve(program).covering_price;
    if (prices.size() != sizes.size()) return {};
    const auto best = best_fills(sizes, prices, pool);
    const double worth = best.back().worth;
    if (worth > 1.0 + kPatternTolerance && round + 1 < kMostRounds) {
      add_pattern(program, counts_of(best, sizes));
      continue;
    }
    double proved = 0.0;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      prices[s] /= std::max(1.0, worth);
      proved += demand[s] * prices[s];
    }
    return proved > (1.0 + kLeastStronger) * by_gpus ? prices : std::vector<double>{};
  }
  return {};
}

}  // namespace berth::solver::horizon_plan
