// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pareto_knapsack.hpp"
#include "pattern.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// Tasks without GPUs that join the GPU tasks of one machine, and their profit.
struct CpuTasks {
  Profit profit = 0;
  std::vector<TypeCount> tasks;
};

/// Items without GPUs, by descending profit per share of the machine's resources.
std::vector<const PricingItem*> cpu_items(const BinType& bin, std::span<const PricingItem> items);

/// Adds items in `order`, each as often as it fits, to the room that `beside` leaves (greedy).

CpuTasks fill_cpu(const BinType& bin, std::span<const PricingItem* const> order,
                  const Label& beside);

/// Upper bound on the profit of tasks without GPUs in the room that `beside` leaves: the least of
/// the fractional knapsacks of single resources (Dantzig 1957).
Profit fill_bound(const BinType& bin, std::span<const PricingItem* const> order,
                  const Label& beside);

}  // namespace berth::solver
