// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packing_problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver {

/// Profits inside the pricing are integers, so that dominance is exact: 2^36 = one scaled unit.
using Profit = std::int64_t;
inline constexpr double kProfitScale = 68719476736.0;
/// Rounded up: a bound made of profits stays a bound.
Profit to_profit(double value);
inline double from_profit(Profit profit) { return static_cast<double>(profit) / kProfitScale; }

/// A task that may be put on a machine of the bin type, with what it earns there after its price.
struct PricingItem {
  std::int32_t type = 0;
  std::int32_t gpus = 0;        ///< whole devices
  std::int32_t milli = 0;       ///< what it takes of one device
  model::Resources needs = {};  ///< 0 where the machine has no limit
  Profit profit = 0;            ///< > 0
  std::int32_t cap = 0;         ///< at most so many copies; not looked at by the bound

  [[nodiscard]] bool uses_gpu() const { return gpus > 0 || milli > 0; }
};

/// What a machine charges for its resources (Lagrange multipliers): Profit per unit, >= 0.
using Multipliers = model::Resources;

inline Profit reduced(const PricingItem& item, const Multipliers& m) {
  Profit left = item.profit;
  for (std::size_t r = 0; r < model::kResources; ++r) left -= m[r] * item.needs[r];
  return left;
}

/// The machine with its resources charged instead of limited: knapsacks over devices.
struct MachineBound {
  Multipliers multipliers;
  int unit = 1;                ///< thousandths a step of `share`
  std::vector<Profit> share;   ///< v1: best reduced profit in w units of one device, w = 0 .. 1000
  std::vector<Profit> whole;   ///< V: best reduced profit on g whole devices
  Profit cpu_only = 0;         ///< best reduced profit of tasks without GPUs, fractional
  Profit bound = 0;            ///< no content of the machine earns more
  model::Resources used = {};  ///< by the content that the bound stands for

  [[nodiscard]] Profit device(int milli) const {
    return share[static_cast<std::size_t>(milli / unit)];
  }
};

/// The bound at given multipliers. O(items + distinct shares x 1000 / unit + GPUs x items).
MachineBound bound_at(const BinType& bin, std::span<const PricingItem> items, int unit,
                      const Multipliers& multipliers);

/// The bound at (nearly) the best multipliers; convex, one resource after the other.
MachineBound best_bound(const BinType& bin, std::span<const PricingItem> items);

}  // namespace berth::solver
