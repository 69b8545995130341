// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/option_table.hpp"
#include "assignment/place_costs.hpp"
#include "assignment/softmax_kernel.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "berth/planner_model/limit_groups.hpp"
#include "berth/solver/market.hpp"

namespace berth::solver::assignment {

/// Jobs with equal options, which share one softmax.
struct Bidder {
  static constexpr std::uint32_t kNoQuota = ~std::uint32_t{0};  ///< its jobs use no priced quota
  double gpus = 0.0;                                            ///< GPUs of one job
  std::int64_t milli = 0;                                       ///< GPU thousandths of one job
  std::uint64_t kind = 0;                                       ///< `job_kind` of its jobs
  bool required = false;
  bool has_limit_price = false;       ///< some option loads limit_groups that have a price
  std::uint32_t quota = kNoQuota;     ///< innermost quota that its jobs use
  std::uint32_t first = 0, last = 0;  ///< its options: AssignmentDual::option(first .. last - 1)
  std::vector<std::uint32_t> jobs;    ///< positions of its jobs; the first `decided` are decided
  std::uint32_t decided = 0;

  [[nodiscard]] std::size_t undecided() const { return jobs.size() - decided; }
};

/// The Lagrangian dual of the assignment of jobs to places, smoothed by softmax (Nesterov 2005):
/// capacities of pools, quotas and groups of limits are relaxed with one price each. `Market` has
/// the formula. Evaluations must not run concurrently: the kernel keeps a shortlist for the next.
class AssignmentDual {
 public:
  static constexpr std::size_t kBlock = 256;  ///< bidders in a block: decision 12
  /// @param limits  adds a price for each quota after those of the pools, then one for each group;
  ///                null: the valuation subtracts these prices already
  AssignmentDual(const planner_model::Valuation& valuation, const PoolIndex& pool_index,
                 std::span<const JobId> jobs, const Supply& supply,
                 const planner_model::LimitGroups* limits = nullptr);
  AssignmentDual(const AssignmentDual&) = delete;
  AssignmentDual& operator=(const AssignmentDual&) = delete;

  /// Sets the free supply. Bidders without undecided jobs or without places are not active.
  void set_supply(const Supply& supply);

  /// Sets the order in which jobs of a bidder are decided: ascending rank.
  /// @param rank  by position of the job
  void order_jobs(std::span<const std::uint32_t> rank);

  /// Marks the first undecided job of the bidder as decided.
  void decide(std::uint32_t bidder) { ++bidders_[bidder].decided; }
  /// Marks all jobs of the bidder as decided.
  void withdraw(std::uint32_t bidder) {
    bidders_[bidder].decided = static_cast<std::uint32_t>(bidders_[bidder].jobs.size());
  }
  /// Excludes an option for good, because no place of it has room.
  void forbid(std::uint32_t option) { forbidden_[option] = 1; }

  [[nodiscard]] const MarketShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t blocks() const { return (active_.size() + kBlock - 1) / kBlock; }
  [[nodiscard]] std::size_t sums_size() const { return 1 + shape_.group.size(); }
  [[nodiscard]] MarketScale scale() const;  ///< of this dual's jobs
  void set_scale(const MarketScale& scale);
  void evaluate(std::span<const double> prices, double eps, std::size_t first_block,
                std::size_t last_block, std::span<std::int64_t> sums);
  double finish(std::span<const double> prices, std::span<const std::int64_t> sums,
                std::span<double> gradient) const;
  double value(std::span<const double> prices, double eps, std::span<double> gradient);

  /// Softmax weights of a bidder's options at these PlaceCosts::costs.
  /// @param weights  result; one entry per option
  void softmax_weights(const Bidder& bidder, std::span<const double> costs, double eps,
                       std::span<double> weights) const;

  [[nodiscard]] const OptionTable& option_table() const { return option_table_; }
  [[nodiscard]] const PlaceCosts& place_costs() const { return place_costs_; }
  [[nodiscard]] const std::vector<Bidder>& bidders() const { return bidders_; }
  [[nodiscard]] std::span<const std::uint32_t> active() const { return active_; }
  [[nodiscard]] const Option& option(std::uint32_t at) const { return options_[at]; }

 private:
  /// A quota with a price, and its ancestors.
  struct PricedQuota {
    double gpus = 0.0;                 ///< capacity, GPUs
    double max_price = 0.0;            ///< largest useful price per GPU; infinite: a hard quota
    std::vector<std::uint32_t> chain;  ///< into quotas_, itself first
  };

  void merge_jobs(const planner_model::Valuation& valuation, std::span<const JobId> jobs,
                  const planner_model::CouplingLimits* limits);
  void add_quotas(const planner_model::CouplingLimits& limits);
  [[nodiscard]] std::vector<double> sum_quota_prices(std::span<const double> prices) const;
  [[nodiscard]] std::vector<double> sum_limit_costs(std::span<const double> prices) const;
  [[nodiscard]] std::vector<SoftmaxKernel::LimitLoads> limit_loads() const;
  void build_kernel();
  /// Sums over the bidders of some blocks: value, then demand by place list, quota and group of
  /// limit_groups (SoftmaxKernel::SumLayout).
  std::vector<std::int64_t> sum_blocks(const KernelPrices& prices, double eps,
                                       std::size_t first_block, std::size_t last_block);
  [[nodiscard]] double cost_of(std::uint32_t option, std::span<const double> costs) const;

  OptionTable option_table_;
  PlaceCosts place_costs_;
  SoftMinima soft_minima_;  ///< at the last prices; kept for its memory
  std::size_t pools_ = 0;
  std::vector<PricedQuota> quotas_;
  std::vector<planner_model::LimitGroups::LimitGroup> limit_groups_;
  MarketShape shape_;
  std::vector<Bidder> bidders_;
  std::vector<Option> options_;            ///< of all bidders, values per GPU
  std::vector<char> forbidden_;            ///< by option
  std::vector<std::uint32_t> place_list_;  ///< by option; PlaceCosts::kNone: no place has supply
  std::vector<std::uint32_t> active_;      ///< indices of the active bidders
  SoftmaxKernel kernel_;                   ///< of the active bidders
  double value_scale_ = 1.0;               ///< fixed-point units per unit of value, a power of two
  double demand_scale_ = 1.0;              ///< fixed-point units per GPU of demand, a power of two
  std::int64_t share_parts_ = 1;           ///< resolution of a pool's share: 1 / share_parts_
};

}  // namespace berth::solver::assignment
