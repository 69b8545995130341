// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/home_rack_prices.hpp"

#include "bounding/home_rack_dual.hpp"

#include <algorithm>

#include "berth/base/infinity.hpp"

namespace berth::solver {
namespace {

/// Subgradient steps of Polyak's length, from the best prices again when they stall.
class PriceDescent {
 public:
  PriceDescent(bounding::HomeRackDual& dual, std::vector<double> start, double target,
               const HomeRackOptions& options)
      : dual_(dual),
        target_(target),
        options_(options),
        step_(options.step),
        price_(start),
        best_(std::move(start)) {}

  /// Evaluates and steps; false at the end.
  bool step() {
    double value = dual_.evaluate(price_);
    stalled_ = value < least_ ? 0 : stalled_ + 1;
    if (value < least_) {
      least_ = value;
      best_ = price_;
    }
    if (stalled_ >= options_.patience) {
      step_ *= options_.shrink;
      stalled_ = 0;
      price_ = best_;
      value = dual_.evaluate(price_);
    }
    return move(value);
  }
  [[nodiscard]] const std::vector<double>& best() const { return best_; }
  [[nodiscard]] double bound() const { return least_; }

 private:
  bool move(double value) {
    const auto moves = [&](std::size_t m) { return price_[m] > 0.0 || dual_.slack()[m] < 0.0; };
    double norm = 0.0;
    for (std::size_t m = 0; m < price_.size(); ++m) {
      if (moves(m)) norm += dual_.slack()[m] * dual_.slack()[m];
    }
    if (norm == 0.0 || value <= target_) return false;
    const double length = step_ * (value - target_) / norm;
    for (std::size_t m = 0; m < price_.size(); ++m) {
      if (moves(m)) price_[m] = std::max(0.0, price_[m] - length * dual_.slack()[m]);
    }
    return true;
  }

  bounding::HomeRackDual& dual_;
  double target_;
  const HomeRackOptions& options_;
  double step_, least_ = kInfinity;
  int stalled_ = 0;
  std::vector<double> price_, best_;
};

}  // namespace

HomeRackSolution home_rack_prices(const planner_model::Valuation& valuation,
                                  const PricedPools& start, std::span<const JobId> jobs,
                                  const KnownRange& known, const HomeRackOptions& options,
                                  const StopToken& stop) {
  const planner_model::Pools& pools = start.pools;
  bounding::HomeRackDual dual(valuation, pools, jobs);
  if (dual.cells() > options.cells / 2.0) return {};
  std::vector<double> price(dual.markets(), kInfinity);  // infinite: no GPUs
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (!pools.pools[p].gpu_type.valid()) continue;
    double& least = price[dual.market(pools.pools[p])];
    least = std::min(least, start.prices[p]);
  }
  PriceDescent descent(dual, std::move(price), known.objective, options);
  const double affordable = options.cells / std::max(1.0, dual.cells());
  const auto most = static_cast<int>(std::min<double>(options.evaluations, affordable));
  for (int e = 0; e < most && !stop.requested() && descent.step(); ++e) {
    if (e >= options.trial && descent.bound() >= known.bound) return {};
  }
  HomeRackSolution result{std::vector<double>(pools.size(), 0.0)};
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (pools.pools[p].gpu_type.valid()) {
      result.prices[p] = descent.best()[dual.market(pools.pools[p])];
    }
  }
  dual.evaluate(descent.best());
  result.at_home.assign(dual.at_home().begin(), dual.at_home().end());
  return result;
}

}  // namespace berth::solver
