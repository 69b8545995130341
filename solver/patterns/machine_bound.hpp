// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packing_problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver {

/// Profit inside the pricing, an integer so that dominance is exact. Unit: scaled value /
/// kProfitScale.
using Profit = std::int64_t;
/// Profits per scaled unit: 2^36, a resolution of 1.5e-11; 2^27 scaled units fit in 63 bits.
inline constexpr double kProfitScale = 68719476736.0;
/// `value` in profits, rounded up, so that a bound made of profits stays a bound.
Profit to_profit(double value);
inline double from_profit(Profit profit) { return static_cast<double>(profit) / kProfitScale; }

/// A task that fits a machine of the bin type, with its profit there: value less price.
struct PricingItem {
  std::int32_t type = 0;
  std::int32_t gpus = 0;        ///< whole devices
  std::int32_t milli = 0;       ///< thousandths taken of one device
  model::Resources needs = {};  ///< 0 for resources without a limit on the machine
  Profit profit = 0;            ///< > 0
  std::int32_t cap = 0;         ///< most copies; the bound over devices ignores it

  [[nodiscard]] bool uses_gpu() const { return gpus > 0 || milli > 0; }
};

/// Lagrange multipliers of a machine's resources: profit per unit, >= 0.
using Multipliers = model::Resources;

/// Reduced profit: profit less the multipliers times the item's needs.
inline Profit reduced(const PricingItem& item, const Multipliers& m) {
  Profit left = item.profit;
  for (std::size_t r = 0; r < model::kResources; ++r) left -= m[r] * item.needs[r];
  return left;
}

/// Lagrangian bound of one machine (Geoffrion 1974): resources are charged at multipliers instead
/// of limited, which leaves knapsacks over devices.
struct MachineBound {
  Multipliers multipliers;
  int unit = 1;                ///< thousandths per entry of `share`
  std::vector<Profit> share;   ///< v1: best reduced profit in w units of one device, w = 0 .. 1000
  std::vector<Profit> whole;   ///< V: best reduced profit on g whole devices
  Profit cpu_only = 0;         ///< best reduced profit of tasks without GPUs, fractional
  Profit bound = 0;            ///< upper bound on the profit of any content of the machine
  model::Resources used = {};  ///< used by the content that attains the relaxed maximum
  /// Best reduced profit in `milli` thousandths of one device.
  [[nodiscard]] Profit device(int milli) const {
    return share[static_cast<std::size_t>(milli / unit)];
  }
};

/// The bound at given multipliers. O(items + distinct shares x 1000 / unit + GPUs x items).
MachineBound bound_at(const BinType& bin, std::span<const PricingItem> items, int unit,
                      const Multipliers& multipliers);

/// The bound at nearly optimal multipliers. The bound is convex in them; coordinate descent over
/// the resources.
MachineBound best_bound(const BinType& bin, std::span<const PricingItem> items);

}  // namespace berth::solver
