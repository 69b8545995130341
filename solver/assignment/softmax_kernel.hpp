// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver::assignment {

/// Prices of one evaluation: per GPU of each place list, per GPU of each quota, per job of each
/// entry of OptionTable::uplink_loads.
struct KernelPrices {
  std::span<const double> place_costs, quota_prices, uplink_costs;
};

/// Sums of softmax values and demands over the jobs of a market, a row for each kind of equal jobs.
/// One array a field: many passes over some thousand numbers each, which stay in the cache.
///
/// Between evaluations prices move little, and most options of a job are far from its best one. So
/// a shortlist is kept of those that can come within `kNegligibleExponent` eps of it as long as no
/// cost has moved by more than some eps since; the others would add exactly nothing. Sums are the
/// same bits with any shortlist, and without one.
class SoftmaxKernel {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// What an uplink load puts on groups of uplinks, in units of the group; kNone: nothing.
  struct UplinkLoad {
    std::uint32_t group = kNone;
    double units = 0.0;
  };
  using UplinkLoads = std::array<UplinkLoad, 2>;

  struct KernelRow {
    double gpus = 0.0;    ///< of one job
    double amount = 0.0;  ///< of all its jobs
    bool required = false;
    std::uint32_t quota = kNone;
  };

  /// Where the parts of the sums begin: [0] is the value; `unplaced` takes what is not wanted.
  struct SumLayout {
    std::size_t place_lists = 1, quotas = 1, uplinks = 1, unplaced = 1;
    [[nodiscard]] std::size_t size() const { return unplaced + 1; }
  };

  /// Fixed-point units per unit of value and per GPU of demand.
  struct Units {
    double value = 1.0, demand = 1.0;
  };

  void reset(std::size_t place_lists, std::size_t quotas, std::size_t uplinks,
             std::vector<UplinkLoads> uplink_loads);
  void add_row(const KernelRow& row);  ///< its options follow
  void add_option(double value, std::uint32_t place_list, std::uint32_t uplink_load);

  [[nodiscard]] std::size_t size() const { return amount_.size(); }
  [[nodiscard]] const SumLayout& layout() const { return layout_; }

  /// Has a shortlist good for these prices; before `sum` with them.
  void prepare_shortlist(const KernelPrices& prices, double eps);

  /// Adds the value of rows [first, last) and their demand by place list, quota and group of
  /// uplinks:
  ///   f = n eps log(e^0 + sum e^{a_k}), a_k = (v_k - q_k) / eps; demand n e^{a_k} / sum
  void sum(std::size_t first, std::size_t last, const KernelPrices& prices, double eps,
           const Units& units, std::span<std::int64_t> sums) const;

 private:
  class Batch;
  struct OptionColumns {
    std::vector<double> value;
    std::vector<std::uint32_t> place_list, uplink_load, end;  ///< `end` by row: one past its last

    void clear();
    void add(const OptionColumns& from, std::size_t k);
  };

  [[nodiscard]] double quota_price_of(std::size_t row, const KernelPrices& prices) const {
    return quota_[row] == kNone ? 0.0 : prices.quota_prices[quota_[row]];
  }
  /// Profits of the row's options into `profit`; the best of them or of staying out.
  double profits_of(std::size_t row, const KernelPrices& prices, const OptionColumns& among,
                    std::span<double> profit) const;
  void sum_exact(std::size_t first, std::size_t last, const KernelPrices& prices,
                 const Units& units, std::span<std::int64_t> sums) const;
  void add_uplink_demand(std::size_t row, std::uint32_t uplink_load, double gpus, double unit,
                         std::span<std::int64_t> sums) const;
  [[nodiscard]] bool shortlist_is_valid(const KernelPrices& prices, double eps) const;

  SumLayout layout_;
  std::vector<UplinkLoads> uplink_loads_;
  std::vector<double> gpus_, amount_;
  std::vector<double>
      unplaced_profit_;  ///< profit of staying out: 0, or minus infinity when required
  std::vector<std::uint32_t> quota_;
  std::vector<char> has_uplink_price_;  ///< some option has an uplink load
  std::size_t max_options_ = 0;         ///< options of a row
  double largest_value_ = 0.0;          ///< of all values
  OptionColumns options_;

  OptionColumns shortlist_;
  double margin_ = -1.0;  ///< options that were worse by more are not in it; < 0: no shortlist
  double eps_ = 0.0;
  std::vector<double> shortlist_place_costs_, shortlist_quota_prices_;
};

}  // namespace berth::solver::assignment
