// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"
#include "pricing_items.hpp"

#include <span>
#include <vector>

namespace berth::solver {

struct PricingLimits {
  int patterns = 5;                ///< most contents returned
  std::size_t labels = 5000;       ///< most labels of one machine; decision 6
  std::size_t last_labels = 5000;  ///< most labels of the pass after one that was cut and empty
  double widest = 1e30;            ///< width of the search below the bound, scaled value
};
/// Result of the pricing problem of one bin type.
struct PricingResult {
  Profit bound = 0;       ///< upper bound on the profit of any content, caps ignored
  bool exact = true;      ///< no limit of labels dropped a content
  std::int64_t work = 0;  ///< contents compared
  std::vector<MachinePattern>
      patterns;  ///< contents of profit above the threshold, by descending profit
};

/// The most profitable contents of one machine: dynamic programming over its devices with dominance
/// in profit and every resource (Nemhauser and Ullmann 1969), pruned by the bound with multipliers.
/// The search starts just below that bound and widens until it finds contents or reaches
/// `threshold`, so the contents found first are the best. Exact unless a limit of labels or a cap
/// of an item binds.
PricingResult price_machine(const PackingProblem& problem, std::size_t bin,
                            std::span<const PricingItem> items, Profit threshold,
                            const PricingLimits& limits);

}  // namespace berth::solver
