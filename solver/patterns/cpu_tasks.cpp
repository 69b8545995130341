// SPDX-License-Identifier: Apache-2.0
#include "cpu_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

namespace berth::solver {

CpuTasks fill_cpu(const BinType& bin, std::span<const PricingItem* const> order,
                  const Label& beside) {
  CpuTasks filled;
  std::int64_t cpu = bin.cpu - beside.cpu;
  std::int64_t memory = bin.memory - beside.memory;
  std::int64_t nic = bin.nic - beside.nic;
  for (const PricingItem* item : order) {
    std::int64_t n = item->cap;
    if (item->cpu > 0) n = std::min(n, cpu / item->cpu);
    if (item->memory > 0) n = std::min(n, memory / item->memory);
    if (item->nic > 0) n = std::min(n, nic / item->nic);
    if (n <= 0) continue;
    cpu -= n * item->cpu;
    memory -= n * item->memory;
    nic -= n * item->nic;
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
    const double part =
        static_cast<double>(i->cpu) / static_cast<double>(std::max<std::int64_t>(bin.cpu, 1)) +
        static_cast<double>(i->memory) /
            static_cast<double>(std::max<std::int64_t>(bin.memory, 1)) +
        static_cast<double>(i->nic) / static_cast<double>(std::max<std::int64_t>(bin.nic, 1));
    return static_cast<double>(i->profit) / std::max(part, 1e-9);
  };
  std::ranges::stable_sort(order, std::greater{}, density);
  return order;
}

Profit fill_bound(const BinType& bin, std::span<const PricingItem* const> order,
                  const Label& beside) {
  double by_cpu = 0.0;
  double by_memory = 0.0;
  double by_nic = 0.0;
  double sum = 0.0;
  for (const PricingItem* i : order) {
    const auto p = static_cast<double>(i->profit);
    sum += p * i->cap;
    const auto raise = [&](double& most, std::int64_t room, std::int64_t need) {
      most = std::max(most,
                      need > 0 ? p * static_cast<double>(room) / static_cast<double>(need) : 1e18);
    };
    raise(by_cpu, bin.cpu - beside.cpu, i->cpu);
    raise(by_memory, bin.memory - beside.memory, i->memory);
    raise(by_nic, bin.nic - beside.nic, i->nic);
  }
  return static_cast<Profit>(std::ceil(std::min({by_cpu, by_memory, by_nic, sum})));
}

}  // namespace berth::solver
