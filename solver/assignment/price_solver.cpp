// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "berth/base/assert.hpp"
#include "berth/solver/blmvm.hpp"
#include "berth/solver/market.hpp"

namespace berth::solver {
namespace {

/// The minimiser's unknowns: groups of pools with one price each, scaled by the square root of
/// their capacity, so that the dual's curvature is similar for large and small pools.
class Unknowns {
 public:
  Unknowns(std::vector<std::size_t> group, std::size_t groups, const MarketShape& shape)
      : group_(std::move(group)), scale_(groups, 0.0), upper_(groups, 0.0) {
    for (std::size_t p = 0; p < group_.size(); ++p) scale_[group_[p]] += shape.capacity[p];
    double mean = 0.0;
    for (const double c : scale_) mean += c / static_cast<double>(std::max<std::size_t>(1, groups));
    for (double& c : scale_) c = c > 0.0 && mean > 0.0 ? std::sqrt(c / mean) : 1.0;
    for (std::size_t p = 0; p < group_.size(); ++p) {
      upper_[group_[p]] = shape.upper[p] * scale_[group_[p]];
    }
  }

  /// Minimises at one eps. `prices` (by pool) is start and result.
  BlmvmResult minimise_at(double eps, const MarketDual& dual, std::vector<double>& prices,
                          const BlmvmOptions& options, const StopToken& stop) const {
    std::vector<double> x(scale_.size(), 0.0), pool_gradient(group_.size());
    for (std::size_t p = 0; p < group_.size(); ++p) x[group_[p]] = prices[p] * scale_[group_[p]];
    std::vector<double> trial(group_.size());
    const auto evaluate = [&](std::span<const double> at, std::span<double> gradient) {
      expand(at, trial);
      const double value = dual(trial, eps, pool_gradient);
      std::ranges::fill(gradient, 0.0);
      for (std::size_t p = 0; p < group_.size() && !gradient.empty(); ++p) {
        gradient[group_[p]] += pool_gradient[p] / scale_[group_[p]];
      }
      return value;
    };
    const BlmvmResult result = minimise(x, upper_, evaluate, options, stop);
    expand(x, prices);
    return result;
  }

 private:
  void expand(std::span<const double> x, std::span<double> prices) const {
    for (std::size_t p = 0; p < group_.size(); ++p) {
      // x / scale may exceed the box by rounding
      const double top = upper_[group_[p]] / scale_[group_[p]];
      prices[p] = std::clamp(x[group_[p]] / scale_[group_[p]], 0.0, top);
    }
  }

  std::vector<std::size_t> group_;  ///< by pool
  std::vector<double> scale_, upper_;
};

Unknowns by_type(const MarketShape& shape) {
  std::vector<std::size_t> group;
  std::size_t groups = 0;
  for (const std::int32_t g : shape.group) {
    group.push_back(static_cast<std::size_t>(g + 1));  // CPU-only pools have type -1
    groups = std::max(groups, group.back() + 1);
  }
  return {std::move(group), groups, shape};
}

Unknowns by_pool(const MarketShape& shape) {
  std::vector<std::size_t> group(shape.group.size());
  for (std::size_t p = 0; p < group.size(); ++p) group[p] = p;
  const std::size_t groups = group.size();
  return {std::move(group), groups, shape};
}

}  // namespace

PriceResult minimise_market(const MarketDual& dual, const MarketShape& shape,
                            std::span<const double> start, const PriceOptions& options,
                            const StopToken& stop) {
  BERTH_EXPECT(start.empty() || start.size() == shape.capacity.size());
  PriceResult best;
  best.prices.assign(shape.capacity.size(), 0.0);
  std::vector<double> prices = best.prices;
  std::ranges::transform(start, prices.begin(), [](double p) { return std::max(p, 0.0); });
  for (std::size_t p = 0; p < prices.size(); ++p) prices[p] = std::min(prices[p], shape.upper[p]);
  best.bound = dual(best.prices, 0.0, {});
  best.evaluations = 1;
  if (prices.empty() || shape.largest_value <= 0.0) return best;
  const auto consider = [&] {
    const double bound = dual(prices, 0.0, {});
    ++best.evaluations;
    if (bound < best.bound) best.bound = bound, best.prices = prices;
  };
  bool stopped = false;
  const auto solve = [&](const Unknowns& unknowns, std::span<const double> eps, int iterations) {
    for (std::size_t i = 0; i < eps.size() && !stopped; ++i) {
      const BlmvmResult found = unknowns.minimise_at(eps[i] * shape.price_scale, dual, prices,
                                                     {.max_iterations = iterations,
                                                      .memory = options.memory,
                                                      .patience = options.patience,
                                                      .least_gain = options.least_gain},
                                                     stop);
      best.evaluations += found.evaluations;
      stopped = found.status == BlmvmStatus::stopped;
      consider();
    }
  };
  if (start.empty()) solve(by_type(shape), options.type_eps, options.type_iterations);
  solve(by_pool(shape), options.pool_eps, options.pool_iterations);
  return best;
}

}  // namespace berth::solver
