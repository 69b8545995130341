// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pareto_knapsack.hpp"
#include "pattern.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// Tasks without GPUs beside a content: the densest first.
struct CpuTasks {
  Profit profit = 0;
  std::vector<TypeCount> tasks;
};

/// The items without GPUs, those first that earn most for what they take of the machine.
std::vector<const PricingItem*> cpu_items(const BinType& bin, std::span<const PricingItem> items);

CpuTasks fill_cpu(const BinType& bin, std::span<const PricingItem* const> order,
                  const Label& beside);

/// No set of tasks without GPUs earns more beside a content that leaves this much.
Profit fill_bound(const BinType& bin, std::span<const PricingItem* const> order,
                  const Label& beside);

}  // namespace berth::solver
