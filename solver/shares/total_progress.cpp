// SPDX-License-Identifier: Apache-2.0
#include "share_blocks.hpp"
#include "share_oracle.hpp"

#include <algorithm>
#include <limits>

namespace berth::solver {
namespace {

constexpr std::size_t kIdle = std::numeric_limits<std::size_t>::max();

/// Type of the largest profit, or kIdle when none is positive. Ties: the first.
std::size_t best_type(const ShareProblem& problem, std::size_t job, std::span<const double> price) {
  std::size_t best = kIdle;
  double most = 0.0;
  const auto rates = problem.rates_of(job);
  for (std::size_t t = 0; t < rates.size(); ++t) {
    const double profit = rates[t] - price[t] * problem.gpus[job];
    if (profit <= most) continue;
    most = profit;
    best = t;
  }
  return best;
}

}  // namespace

ShareColumn TotalProgress::column(std::span<const double> price) const {
  ShareColumn column;
  column.price.assign(price.begin(), price.end());
  column.gain = sum_blocks(problem_.jobs(), [&](std::size_t job) {
    const std::size_t type = best_type(problem_, job, price);
    return type == kIdle ? 0.0 : problem_.rates_of(job)[type];
  });
  column.use = use_of(problem_, [&](std::size_t job, const auto& add) {
    const std::size_t type = best_type(problem_, job, price);
    if (type != kIdle) add(type, 1.0);
  });
  column.profit = column.gain;
  for (std::size_t t = 0; t < price.size(); ++t) column.profit -= price[t] * column.use[t];
  return column;
}

void TotalProgress::add_shares(const ShareColumn& column, double part,
                               std::span<double> share) const {
  for_jobs(problem_.jobs(), [&](std::size_t job) {
    const std::size_t type = best_type(problem_, job, column.price);
    if (type != kIdle) share[job * problem_.types() + type] += part;
  });
}

std::vector<double> TotalProgress::weights(const ShareColumn&) const {
  return std::vector<double>(problem_.jobs(), 1.0);
}

double TotalProgress::value(std::span<const double> share) const {
  return sum_blocks(problem_.jobs(),
                    [&](std::size_t job) { return progress_of(problem_, job, share); });
}

double TotalProgress::largest() const {
  return sum_blocks(problem_.jobs(),
                    [&](std::size_t job) { return std::ranges::max(problem_.rates_of(job)); });
}

}  // namespace berth::solver
