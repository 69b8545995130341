// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/home_rack_prices.hpp"

#include "bounding/home_rack_dual.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

#include "berth/base/infinity.hpp"
#include "berth/solver/job_selection.hpp"

namespace berth::solver {
namespace {

/// Subgradient steps of Polyak's length, from the best prices again when they stall. A price is a
/// base by GPU type and a premium by market, so that jobs which any pod suits, and which all take
/// the cheapest one, pull at the base alone: else two pods of equal price take turns.
class PriceDescent {
 public:
  PriceDescent(bounding::HomeRackDual& dual, std::vector<double> start, std::size_t types,
               double target, const HomeRackOptions& options,
               bounding::HomeRackDual::Knapsack knapsack)
      : dual_(dual),
        knapsack_(knapsack),
        pods_(start.size() / types),
        target_(target),
        options_(options),
        step_(options.step),
        price_(start),
        best_(std::move(start)) {}

  /// Evaluates and steps; false at the end.
  bool step() {
    double value = dual_.evaluate(price_, knapsack_);
    stalled_ = value < least_ ? 0 : stalled_ + 1;
    if (value < least_) {
      least_ = value;
      best_ = price_;
    }
    if (stalled_ >= options_.patience) {
      step_ *= options_.shrink;
      stalled_ = 0;
      price_ = best_;
      value = dual_.evaluate(price_, knapsack_);
    }
    return move(value);
  }
  [[nodiscard]] const std::vector<double>& best() const { return best_; }
  [[nodiscard]] double bound() const { return least_; }

 private:
  bool move(double value) {
    if (value <= target_) return false;
    std::vector<double> base = least_by_type(), of_base(base.size(), 0.0);
    std::vector<double> premium(dual_.slack().begin(), dual_.slack().end());  // its subgradient
    double norm = 0.0;
    for (std::size_t t = 0; t < base.size(); ++t) {
      of_base[t] = -dual_.in_any_pod()[t];
      for (std::size_t m = t * pods_; m < (t + 1) * pods_; ++m) {
        of_base[t] += dual_.slack()[m];
        if (premium[m] > 0.0 && price_[m] <= base[t]) premium[m] = 0.0;
        norm += premium[m] * premium[m];
      }
      if (of_base[t] > 0.0 && base[t] <= 0.0) of_base[t] = 0.0;
      norm += of_base[t] * of_base[t];
    }
    if (norm == 0.0) return false;
    const double length = step_ * (value - target_) / norm;
    for (std::size_t m = 0; m < price_.size(); ++m) {
      const std::size_t t = m / pods_;
      if (base[t] == kInfinity) continue;
      price_[m] = std::max(0.0, base[t] - length * of_base[t]) +
                  std::max(0.0, price_[m] - base[t] - length * premium[m]);
    }
    return true;
  }

  [[nodiscard]] std::vector<double> least_by_type() const {
    std::vector<double> least(price_.size() / pods_, kInfinity);
    for (std::size_t m = 0; m < price_.size(); ++m) {
      least[m / pods_] = std::min(least[m / pods_], price_[m]);
    }
    return least;
  }

  bounding::HomeRackDual& dual_;
  bounding::HomeRackDual::Knapsack knapsack_;
  std::size_t pods_;
  double target_;
  const HomeRackOptions& options_;
  double step_, least_ = kInfinity;
  int stalled_ = 0;
  std::vector<double> price_, best_;
};

/// Whole jobs for what the jobs at home leave: within each pod and each GPU type, which are nested.
/// At prices alone jobs ask for more or less than a pod has left.
std::vector<HomeChoice> choose_elsewhere(const bounding::HomeRackDual& dual,
                                         std::span<const double> price, std::size_t pods) {
  const std::vector<std::int64_t> left = dual.left_by_home();
  const std::size_t types = left.size() / pods;
  std::vector<SelectionNode> nodes(1 + types);  // all, by type, then by market
  for (std::size_t m = 0; m < left.size(); ++m) {
    const std::size_t type = 1 + m / pods;
    nodes[type].parent = 0;
    nodes.push_back({static_cast<std::int32_t>(type), std::max<std::int64_t>(0, left[m])});
    nodes[type].capacity += nodes.back().capacity;
    nodes[0].capacity += nodes.back().capacity;
  }
  std::set<JobId> at_home;
  for (const HomeChoice& choice : dual.at_home()) at_home.insert(choice.job);
  std::vector<HomeChoice> jobs;
  std::vector<SelectionItem> items;
  for (const auto& away : dual.away(price)) {
    if (at_home.contains(away.job)) continue;
    const std::size_t type = away.market / pods;
    const PodId pod = away.in_any_pod ? PodId() : PodId(away.market % pods);
    const std::size_t node = away.in_any_pod ? 1 + type : 1 + types + away.market;
    jobs.push_back({away.job, GpuTypeId(type), false, pod});
    items.push_back({away.value, away.milli, static_cast<std::int32_t>(node)});
  }
  const JobSelection selection = select_jobs(nodes, items);
  std::vector<HomeChoice> chosen;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (selection.selected[i] != 0) chosen.push_back(jobs[i]);
  }
  return chosen;
}

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
  const double affordable = options.cells / std::max(1.0, dual.cells());
  const bool whole = affordable >= options.trial;
  const double most = whole ? std::min<double>(options.evaluations, affordable)
                            : static_cast<double>(options.evaluations);
  using Knapsack = bounding::HomeRackDual::Knapsack;
  const std::size_t types = valuation.instance().cluster.gpu_types.size();
  PriceDescent descent(dual, std::move(price), types, known.objective, options,
                       whole ? Knapsack::whole : Knapsack::divisible);
  for (int e = 0; e < most && !stop.requested() && descent.step(); ++e) {
    if (whole && e >= options.trial && descent.bound() >= known.bound) return {};
  }
  HomeRackSolution result{std::vector<double>(pools.size(), 0.0)};
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (pools.pools[p].gpu_type.valid()) {
      result.prices[p] = descent.best()[dual.market(pools.pools[p])];
    }
  }
  dual.evaluate(descent.best());
  result.at_home.assign(dual.at_home().begin(), dual.at_home().end());
  const std::size_t pods = valuation.instance().cluster.pods.size();
  result.elsewhere = choose_elsewhere(dual, descent.best(), pods);
  return result;
}

}  // namespace berth::solver
