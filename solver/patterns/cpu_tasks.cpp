// SPDX-License-Identifier: Apache-2.0
#include "cpu_tasks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>

namespace berth::solver {

CpuTasks fill_cpu(const BinType& bin, std::span<const PricingItem* const> order,
                  const Label& beside) {
  CpuTasks filled;
  model::Resources left = bin.room;
  for (std::size_t r = 0; r < model::kResources; ++r) left[r] -= beside.used[r];
  for (const PricingItem* item : order) {
    std::int64_t n = item->cap;
    for (std::size_t r = 0; r < model::kResources; ++r) {
      if (item->needs[r] > 0) n = std::min(n, left[r] / item->needs[r]);
    }
    if (n <= 0) continue;
    for (std::size_t r = 0; r < model::kResources; ++r) left[r] -= n * item->needs[r];
    filled.profit += n * item->profit;
    filled.tasks.push_back({item->type, static_cast<std::int32_t>(n)});
  }
  return filled;
}

std::vector<const PricingItem*> cpu_items(const BinType& bin, std::span<const PricingItem> items) {
  std::vector<const PricingItem*> order;
  for (const PricingItem& item : items) {
    if (!item.uses_gpu()) order.push_back(&item);
  }
  const auto density = [&](const PricingItem* i) {
    double part = 0.0;
    for (std::size_t r = 0; r < model::kResources; ++r) {
      part += static_cast<double>(i->needs[r]) /
              static_cast<double>(std::max<std::int64_t>(bin.room[r], 1));
    }
    return static_cast<double>(i->profit) / std::max(part, 1e-9);
  };
  std::ranges::stable_sort(order, std::greater{}, density);
  return order;
}

Profit fill_bound(const BinType& bin, std::span<const PricingItem* const> order,
                  const Label& beside) {
  std::array<double, model::kResources> by{};  // fractional knapsack of each resource alone
  double sum = 0.0;
  for (const PricingItem* i : order) {
    const auto p = static_cast<double>(i->profit);
    sum += p * i->cap;
    for (std::size_t r = 0; r < model::kResources; ++r) {
      const auto room = static_cast<double>(bin.room[r] - beside.used[r]);
      const std::int64_t need = i->needs[r];
      by[r] = std::max(by[r], need > 0 ? p * room / static_cast<double>(need) : 1e18);
    }
  }
  return static_cast<Profit>(std::ceil(std::min(sum, std::ranges::min(by))));
}

}  // namespace berth::solver
