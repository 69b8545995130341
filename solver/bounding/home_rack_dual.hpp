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

  /// How the jobs of a rack are chosen: whole, or, in less time, the last one in part, which is a
  /// larger bound.
  enum class Knapsack : std::uint8_t { whole, divisible };
  /// The bound. O(jobs x types + markets + cells), without the cells with divisible jobs.
  /// @param price  by market, value per GPU
  double evaluate(std::span<const double> price, Knapsack knapsack = Knapsack::whole);
  /// By market: GPUs less those that the last evaluation used, without jobs that any pod suits.
  [[nodiscard]] std::span<const double> slack() const { return slack_; }
  /// By GPU type: GPUs of the jobs that any pod suits. They pay the least price of the type.
  [[nodiscard]] std::span<const double> in_any_pod() const { return in_any_pod_; }
  /// The jobs that the knapsacks of the last evaluation hold, by rack.
  [[nodiscard]] std::span<const HomeChoice> at_home() const { return at_home_; }

  /// Where a job gains most outside its home rack.
  struct AwayChoice {
    JobId job;
    std::int64_t milli = 0;
    double value = 0.0;      ///< before prices
    std::size_t market = 0;  ///< the cheapest one there
    bool in_any_pod = false;
  };
  /// Of all jobs that have a value outside their home racks, at these prices.
  [[nodiscard]] std::vector<AwayChoice> away(std::span<const double> price) const;
  /// GPU thousandths by market that jobs at home in the last evaluation leave.
  [[nodiscard]] std::vector<std::int64_t> left_by_home() const;

 private:
  struct MarketOption {
    double value = 0.0;
    std::size_t first = 0, last = 0;  ///< the cheapest of these markets
    [[nodiscard]] bool in_any_pod() const { return last - first > 1; }
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
    const MarketOption* option = nullptr;
  };
  /// A job that gains by being at home.
  struct HomeCandidate {
    const HomeJob* job;
    double profit;
    std::size_t home;
    BestOption away;
  };

  void add(JobId id);
  /// By GPU type: the first of its cheapest markets.
  [[nodiscard]] std::vector<std::size_t> cheapest(std::span<const double> price) const;
  /// @param cheapest  by GPU type, at these prices
  [[nodiscard]] BestOption best(std::span<const MarketOption> options, double gpus,
                                std::span<const double> price,
                                std::span<const std::size_t> cheapest) const;
  double fill(std::size_t rack);
  double fill_all(std::size_t rack);
  double fill_divisible(std::size_t rack);
  /// GPUs left where the job is, or would be, elsewhere: of a market, or less those of any pod.
  void use_elsewhere(const BestOption& away, double gpus);
  void bring_home(const HomeCandidate& candidate, double part);
  void place_at_home(const HomeCandidate& candidate);

  const planner_model::Valuation& valuation_;
  const model::Cluster& cluster_;
  std::size_t types_;
  std::vector<double> gpus_, slack_;      ///< by market
  std::vector<double> in_any_pod_;        ///< by type
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
