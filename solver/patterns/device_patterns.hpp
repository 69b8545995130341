// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pareto_knapsack.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// What lies on one device (shares) or on several whole ones (a task of k GPUs).
struct Content {
  int capacity = 0;  ///< thousandths of the device that shares were chosen for; 0: whole devices
  KnapsackItem total;
  std::vector<std::pair<std::int32_t, std::int32_t>> items;  ///< (item index, count)
};

/// Sets of shares for one device with `free` thousandths, none beaten by another in profit, CPU,
/// memory and NIC, each with reduced profit > floor. Best reduced first. Includes the empty set
/// when it passes. `truncated` in the result says that the limit cut some off.
struct DeviceContents {
  std::vector<Content> contents;
  bool truncated = false;
  std::int64_t work = 0;  ///< contents compared
};
DeviceContents device_contents(const BinType& bin, std::span<const Item> items,
                               const MachineBound& bound, int free, Profit floor,
                               std::size_t labels);

}  // namespace berth::solver
