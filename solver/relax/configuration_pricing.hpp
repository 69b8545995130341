// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../patterns/pricing.hpp"
#include "task_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/solver/configuration_lp.hpp"

namespace berth::solver {

/// Prices configurations: the contents of machines that hold tasks of the largest total price.
class ConfigurationPricing {
 public:
  struct Result {
    std::vector<double> earned;  ///< by bin type: bound on the price of any content, exact unless
                                 ///< a limit of labels was met
    std::vector<Configuration> found;  ///< of price above the threshold; ascending bin type
    std::int64_t work = 0;             ///< contents compared
  };

  ConfigurationPricing(std::span<const BinType> bins, const TaskRows& rows);

  /// At prices by row. In parallel over the bin types.
  /// @param threshold  by bin type; contents of at most this price are not returned, and `earned`
  ///                   is at least this
  Result operator()(std::span<const double> price, std::span<const double> threshold,
                    const PricingLimits& limits);

  /// Multipliers of the resources in the bound of one machine, by bin type, at prices by row.
  [[nodiscard]] std::vector<std::array<double, model::kResources>> multipliers(
      std::span<const double> price);

  /// One configuration for each bundle and bin type that may hold it: as many copies as fit, then
  /// other bundles, large ones first. At most `most` in all.
  [[nodiscard]] std::vector<Configuration> uniform(std::size_t most) const;

  /// Configurations that cover these numbers of bundles on the machines of a slot, as
  /// `balanced_patterns` does; `machines` is how often each is used. @pre prices were set
  [[nodiscard]] std::vector<Configuration> balanced(std::vector<std::int64_t> bundles,
                                                    std::size_t slot) const;

 private:
  void set_prices(std::span<const double> price);
  [[nodiscard]] std::vector<PricingItem> items_of(std::size_t bin) const;

  const TaskRows& rows_;
  PackingProblem problem_;            ///< its job types are the bundles
  ResidualProblem residual_;          ///< all copies of the bundles
  std::vector<double> nothing_;       ///< price of a bundle beside its profit: 0
  std::vector<std::int64_t> copies_;  ///< by bundle, most in one machine
};

}  // namespace berth::solver
