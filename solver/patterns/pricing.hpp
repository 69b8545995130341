// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"
#include "pricing_items.hpp"

#include <span>
#include <vector>

namespace berth::solver {

struct PricingLimits {
  int patterns = 5;                ///< best contents wanted
  std::size_t labels = 5000;       ///< kept at a time for one machine
  std::size_t last_labels = 5000;  ///< when that cut something off and nothing was found
  double widest = 1e30;            ///< look no further than so much below the bound, scaled
};

/// What one machine of a bin type can earn.
struct PricingResult {
  Profit bound = 0;       ///< no content earns more (caps not looked at)
  bool exact = true;      ///< no limit cut anything off
  std::int64_t work = 0;  ///< contents compared
  std::vector<MachinePattern>
      patterns;  ///< those that earn more than the threshold, the best first
};

/// The best contents of a machine by profit: dynamic programming over its devices, with dominance
/// in (profit, CPU, memory, NIC), pruned by the bound with multipliers. The pruning starts just
/// below that bound and widens until something is found or the threshold is reached, so that what
/// is found first is best. Exact but for the limits and for items with caps that bind.
PricingResult price_machine(const PackingProblem& problem, std::size_t bin,
                            std::span<const PricingItem> items, Profit threshold,
                            const PricingLimits& limits);

}  // namespace berth::solver
