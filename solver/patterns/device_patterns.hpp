// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pareto_knapsack.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// A pattern of one device (shares) or of several whole ones (a task of k GPUs).
struct DevicePattern {
  int capacity = 0;  ///< thousandths of the device that shares were chosen for; 0: whole devices
  ParetoItem total;
  std::vector<std::pair<std::int32_t, std::int32_t>> items;  ///< (item index, count)
};

/// Sets of shares for one device with `free` thousandths, none dominated by another in profit and
/// every resource, each with reduced profit > floor. Best reduced first. Includes the empty set
/// when it passes. `truncated` in the result says that the limit cut some off.
struct DevicePatterns {
  std::vector<DevicePattern> patterns;
  bool truncated = false;
  std::int64_t work = 0;  ///< patterns compared
};
DevicePatterns device_patterns(const BinType& bin, std::span<const PricingItem> items,
                               const MachineBound& bound, int free, Profit floor,
                               std::size_t labels);

}  // namespace berth::solver
