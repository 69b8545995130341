// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pareto_knapsack.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// Shares on one device, or one task on several whole devices.
struct DevicePattern {
  int capacity = 0;  ///< free thousandths of the device that holds the shares; 0: whole devices
  ParetoItem total;  ///< size, profit and needs of all items together
  std::vector<std::pair<std::int32_t, std::int32_t>> items;  ///< (item index, count)
};

struct DevicePatterns {
  std::vector<DevicePattern> patterns;  ///< by descending reduced profit
  bool truncated = false;               ///< the limit of labels dropped some
  std::int64_t work = 0;                ///< patterns compared
};

/// Sets of shares for one device with `free` thousandths: none is dominated by another in profit
/// and every resource, each has a reduced profit above `floor`. The empty set is one of them when
/// its profit 0 is above `floor`.
/// @param labels  most partial contents kept for one size
DevicePatterns device_patterns(const BinType& bin, std::span<const PricingItem> items,
                               const MachineBound& bound, int free, Profit floor,
                               std::size_t labels);

}  // namespace berth::solver
