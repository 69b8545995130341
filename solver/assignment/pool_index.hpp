// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/planner_model/pools.hpp"

namespace berth::solver::assignment {

/// The GPU pools by GPU type and domain. Lists are ascending, so the pools of a rack or a pod are
/// contiguous.
class PoolIndex {
 public:
  PoolIndex(const model::Cluster& cluster, const planner_model::Pools& pools);

  /// Pools of one type in one rack, pod or (domain 0) the cluster; empty when there are none.
  [[nodiscard]] std::span<const std::int32_t> pools_in(GpuTypeId type, model::Level level,
                                                       std::int32_t domain) const;

  /// Splits a list into the domains of a level (single pools for `machine`) and calls
  /// visit(first, last) with the positions of each in the list.
  template <class Visit>
  void for_each_domain(std::span<const std::int32_t> domain_pools, model::Level width,
                       Visit visit) const {
    for (std::size_t first = 0; first < domain_pools.size();) {
      std::size_t last = first + 1;
      while (last < domain_pools.size() &&
             same_domain(domain_pools[first], domain_pools[last], width))
        ++last;
      visit(first, last);
      first = last;
    }
  }

  [[nodiscard]] const planner_model::Pools& pools() const { return *pools_; }
  [[nodiscard]] std::size_t types() const { return types_; }

 private:
  [[nodiscard]] bool same_domain(std::int32_t a, std::int32_t b, model::Level width) const;

  struct DomainLists {
    std::vector<std::uint32_t> end;  ///< [domain * types + type]: one past the last entry
    std::vector<std::int32_t> pool;
  };
  template <class DomainOf>
  void group(std::size_t domains, DomainOf domain_of, DomainLists& lists) const;

  const planner_model::Pools* pools_;
  std::size_t types_;
  DomainLists racks_, pods_, cluster_;
};

}  // namespace berth::solver::assignment
