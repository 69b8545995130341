// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/time_shares.hpp"

#include "packing_lp.hpp"
#include "share_oracle.hpp"

#include <algorithm>
#include <limits>

#include "berth/base/assert.hpp"

namespace berth::solver {
namespace {

/// Share of the best prices so far in the prices of the next column (Wentges 1997).
constexpr double kSmoothing = 0.5;

/// Master problem over the columns: the best mix that keeps the capacities.
class ShareMaster {
 public:
  ShareMaster(const ShareProblem& problem, const ShareOracle& oracle)
      : problem_(problem), oracle_(oracle), scale_(oracle.largest()) {
    lp_.limit.assign(problem.types() + 1, 1.0);  // parts of the capacities; the sum of all parts
  }

  void solve(const ShareOptions& options) {
    const double gpus = [&] {
      double sum = 0.0;
      for (const double capacity : problem_.capacity) sum += capacity;
      return sum;
    }();
    std::vector<double> price(problem_.types(), scale_ / gpus);
    while (static_cast<int>(columns_.size()) < options.most_columns) {
      add(oracle_.column(price));
      mix_ = solve_packing(lp_);
      if (bound_ - value() <= options.gap * bound_) return;
      for (std::size_t t = 0; t < price.size(); ++t) {
        const double master = mix_.price[t] * scale_ / problem_.capacity[t];
        price[t] = kSmoothing * columns_[best_].price[t] + (1.0 - kSmoothing) * master;
      }
    }
  }

  [[nodiscard]] TimeShares result() const {
    TimeShares shares;
    shares.share.resize(problem_.jobs() * problem_.types());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (mix_.amount[c] > 0.0) oracle_.add_shares(columns_[c], mix_.amount[c], shares.share);
    }
    shares.price = columns_[best_].price;
    shares.weight = oracle_.weights(columns_[best_]);
    shares.bound = bound_;
    shares.columns = static_cast<int>(columns_.size());
    return shares;
  }

 private:
  void add(ShareColumn column) {
    double bound = column.profit;
    std::vector<double> rows;
    for (std::size_t t = 0; t < problem_.types(); ++t) {
      bound += column.price[t] * problem_.capacity[t];
      rows.push_back(column.use[t] / problem_.capacity[t]);
    }
    rows.push_back(1.0);
    if (bound < bound_) {
      bound_ = bound;
      best_ = columns_.size();
    }
    lp_.columns.push_back(std::move(rows));
    lp_.gain.push_back(column.gain / scale_);
    columns_.push_back(std::move(column));
  }

  [[nodiscard]] double value() const {
    double sum = 0.0;
    for (std::size_t c = 0; c < columns_.size(); ++c) sum += mix_.amount[c] * columns_[c].gain;
    return sum;
  }

  const ShareProblem& problem_;
  const ShareOracle& oracle_;
  double scale_;
  PackingLp lp_;
  PackingSolution mix_;
  std::vector<ShareColumn> columns_;
  double bound_ = std::numeric_limits<double>::infinity();
  std::size_t best_ = 0;
};

/// Shrinks the shares until sums in doubles keep every limit, which rounding may have exceeded.
void keep_limits(const ShareProblem& problem, TimeShares& shares) {
  const std::size_t types = problem.types();
  std::vector<double> use(types);
  double most = 1.0;
  for (std::size_t j = 0; j < problem.jobs(); ++j) {
    double time = 0.0;
    for (std::size_t t = 0; t < types; ++t) {
      time += shares.share[j * types + t];
      use[t] += shares.share[j * types + t] * problem.gpus[j];
    }
    most = std::max(most, time);
  }
  for (std::size_t t = 0; t < types; ++t) most = std::max(most, use[t] / problem.capacity[t]);
  BERTH_ENSURE(most < 1.0 + 1e-6);
  if (most == 1.0) return;
  for (double& share : shares.share) share /= most * (1.0 + 1e-12);
}

TimeShares solve(const ShareProblem& problem, const ShareOracle& oracle,
                 const ShareOptions& options) {
  BERTH_EXPECT(problem.types() > 0 && problem.rate.size() == problem.jobs() * problem.types());
  if (problem.jobs() == 0) return {};
  ShareMaster master(problem, oracle);
  master.solve(options);
  TimeShares shares = master.result();
  keep_limits(problem, shares);
  shares.value = oracle.value(shares.share);
  return shares;
}

}  // namespace

TimeShares max_min_shares(const ShareProblem& problem, const ShareOptions& options) {
  return solve(problem, LeastProgress(problem), options);
}

TimeShares max_sum_shares(const ShareProblem& problem, const ShareOptions& options) {
  return solve(problem, TotalProgress(problem), options);
}

}  // namespace berth::solver
