// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/home_rack_prices.hpp"

namespace berth::solver::bounding {

/// The bound of `home_rack_prices` and its subgradient. Prices are by *market*: the GPUs of one
/// type in one pod.
class HomeRackDual {
 public:
  HomeRackDual(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
               std::span<const JobId> jobs);

  [[nodiscard]] std::size_t markets() const { return gpus_.size(); }
  /// @pre the pool has GPUs
  [[nodiscard]] std::size_t market(const planner_model::Pool& pool) const {
    return pool.gpu_type.index() * cluster_.pods.size() + pool.pod.index();
  }
  /// Of all knapsacks of one evaluation.
  [[nodiscard]] double cells() const { return cells_; }

  /// The bound. O(jobs x types x pods + cells).
  /// @param price  by market, value per GPU
  double evaluate(std::span<const double> price);
  /// By market: GPUs less those that the last evaluation used.
  [[nodiscard]] std::span<const double> slack() const { return slack_; }
  /// The jobs that the knapsacks of the last evaluation hold, by rack.
  [[nodiscard]] std::span<const HomeChoice> at_home() const { return at_home_; }

 private:
  struct MarketOption {
    double value = 0.0;
    std::size_t first = 0, last = 0;  ///< the cheapest of these markets
  };
  struct HomeJob {
    JobId id;
    double gpus = 0.0;
    std::int64_t milli = 0;
    RackId rack;
    std::vector<MarketOption> away, home;
  };
  struct BestOption {
    double net = -kInfinity;
    std::size_t market = 0;
  };
  /// A job that gains by being at home.
  struct HomeCandidate {
    const HomeJob* job;
    double profit;
    std::size_t home;
    BestOption away;
  };

  void add(JobId id);
  [[nodiscard]] static BestOption best(std::span<const MarketOption> options, double gpus,
                                       std::span<const double> price);
  double fill(std::size_t rack);

  const planner_model::Valuation& valuation_;
  const model::Cluster& cluster_;
  std::size_t types_;
  std::vector<double> gpus_, slack_;      ///< by market
  std::vector<std::int64_t> rack_milli_;  ///< rack x type
  std::vector<HomeJob> jobs_;
  std::int64_t unit_ = 0;               ///< gcd of the jobs' GPU thousandths
  std::vector<std::int64_t> capacity_;  ///< by RackId: units
  double cells_ = 0.0;
  std::vector<std::vector<HomeCandidate>> candidates_;  ///< by RackId
  std::vector<HomeChoice> at_home_;
  std::vector<double> profit_;       ///< of one knapsack, by units
  std::vector<std::uint8_t> taken_;  ///< item x units
};

}  // namespace berth::solver::bounding
