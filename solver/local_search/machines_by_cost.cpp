// SPDX-License-Identifier: Apache-2.0
#include "local_search/machines_by_cost.hpp"

#include <algorithm>

namespace berth::solver::local_search {

std::span<const MachinesByCost::Entry> MachinesByCost::of(const Domain& domain,
                                                          std::int64_t milli) {
  const auto [found, fresh] = orders_.try_emplace({&domain, milli});
  std::vector<Entry>& order = found->second;
  if (!fresh) return order;
  order.reserve(domain.machines.size());
  for (const MachineId m : domain.machines) order.push_back({least_cost(occupancy_, m, milli), m});
  std::ranges::stable_sort(order, {}, &Entry::least);
  return order;
}

}  // namespace berth::solver::local_search
