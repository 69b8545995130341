// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "berth/planner_model/limit_groups.hpp"

namespace berth::solver::assignment {

/// Prices of one evaluation: per GPU of each place list, per GPU of each quota, per job of each
/// entry of OptionTable::limit_loads.
struct KernelPrices {
  std::span<const double> place_costs, quota_prices, limit_costs;
};

/// Sums of softmax values and demands over the jobs of a market, one row for each bidder. Fields
/// are columns, so that passes over some thousand numbers stay in the cache.
///
/// Prices change little between evaluations, and most options of a job are far below its best one.
/// The kernel keeps a shortlist of the options that can come within `kNegligibleExponent` eps of
/// the best one while prices move by at most some eps; other options contribute exactly 0. The bits
/// of the sums do not depend on the shortlist.
class SoftmaxKernel {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};  ///< no quota, no group, no load
  /// Load of one job on a group of limits, in units of the group; kNone: no load.
  struct LimitLoad {
    std::uint32_t group = kNone;
    double units = 0.0;
  };
  using LimitLoads =
      std::array<LimitLoad, std::tuple_size_v<planner_model::LimitGroups::GroupLoads>>;

  struct KernelRow {
    double gpus = 0.0;    ///< GPUs of one job
    double amount = 0.0;  ///< GPUs of all undecided jobs of the row
    bool required = false;
    std::uint32_t quota = kNone;
  };

  /// First index of each part of the sums. [0] is the value; `unplaced` collects the weight of
  /// unplaced jobs.
  struct SumLayout {
    std::size_t place_lists = 1, quotas = 1, limit_groups = 1, unplaced = 1;
    [[nodiscard]] std::size_t size() const { return unplaced + 1; }
  };

  /// Fixed-point units per unit of value and per GPU of demand.
  struct Units {
    double value = 1.0, demand = 1.0;
  };

  void reset(std::size_t place_lists, std::size_t quotas, std::size_t limit_groups,
             std::vector<LimitLoads> limit_loads);
  void add_row(const KernelRow& row);  ///< calls of add_option add its options
  void add_option(double value, std::uint32_t place_list, std::uint32_t limit_load);

  [[nodiscard]] std::size_t size() const { return amount_.size(); }
  [[nodiscard]] const SumLayout& layout() const { return layout_; }

  /// Ensures a shortlist that is valid at these prices. Call before `sum` with them.
  void prepare_shortlist(const KernelPrices& prices, double eps);

  /// Adds the value of rows [first, last) and their demand by place list, quota and group of
  /// limit_groups:
  ///   f = n eps log(e^0 + sum e^{a_k}), a_k = (v_k - q_k) / eps; demand n e^{a_k} / sum
  void sum(std::size_t first, std::size_t last, const KernelPrices& prices, double eps,
           const Units& units, std::span<std::int64_t> sums) const;

 private:
  class Batch;
  struct OptionColumns {
    std::vector<double> value;
    std::vector<std::uint32_t> place_list, limit_load, end;  ///< `end` by row: one past its last

    void clear();
    void add(const OptionColumns& from, std::size_t k);
  };

  [[nodiscard]] double quota_price_of(std::size_t row, const KernelPrices& prices) const {
    return quota_[row] == kNone ? 0.0 : prices.quota_prices[quota_[row]];
  }
  /// Writes the profits of the row's options to `profit`; returns the largest of them and of
  /// staying unplaced.
  double profits_of(std::size_t row, const KernelPrices& prices, const OptionColumns& among,
                    std::span<double> profit) const;
  void sum_exact(std::size_t first, std::size_t last, const KernelPrices& prices,
                 const Units& units, std::span<std::int64_t> sums) const;
  void add_group_demand(std::size_t row, std::uint32_t limit_load, double gpus, double unit,
                        std::span<std::int64_t> sums) const;
  [[nodiscard]] bool shortlist_is_valid(const KernelPrices& prices, double eps) const;

  SumLayout layout_;
  std::vector<LimitLoads> limit_loads_;
  std::vector<double> gpus_, amount_;
  std::vector<double>
      unplaced_profit_;  ///< profit of staying unplaced: 0, or minus infinity when required
  std::vector<std::uint32_t> quota_;
  std::vector<char> has_limit_price_;  ///< some option has a limit load
  std::size_t max_options_ = 0;        ///< largest number of options of a row
  double largest_value_ = 0.0;         ///< largest |value| of an option
  OptionColumns options_;

  OptionColumns shortlist_;
  double margin_ = -1.0;  ///< the shortlist has options within this of the best; < 0: none
  double eps_ = 0.0;      ///< of the shortlist
  std::vector<double> shortlist_place_costs_, shortlist_quota_prices_;
};

}  // namespace berth::solver::assignment
