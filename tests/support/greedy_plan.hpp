// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/free_pools.hpp"
#include "assignment/option_table.hpp"
#include "assignment/placement_table.hpp"
#include "local_search/fill.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "berth/model/pools.hpp"
#include "berth/model/room.hpp"
#include "berth/model/value.hpp"

namespace berth::test {

/// Adds jobs to a plan greedily: unplaced jobs of positive value (and required ones, first) into
/// idle capacity, in descending order of value per GPU; CPU-only jobs last. Needs the solver's
/// internal headers.
/// @param unplaced  ascending; loses the jobs that were placed
/// @param placed    ascending JobId; gains the jobs that were placed
inline void add_greedily(const model::Valuation& valuation, model::Room& room,
                         std::span<const MachineId> machines, std::vector<JobId>& unplaced,
                         model::Placement& placed) {
  const model::Instance& instance = valuation.instance();
  const model::Pools pools = model::make_pools(instance.cluster, model::Level::rack);
  const solver::assignment::PoolIndex pool_index(instance.cluster, pools);
  const solver::assignment::OptionTable option_table(valuation, pool_index, unplaced);
  solver::assignment::FreePools free_pools(instance, pool_index, room, machines);
  solver::assignment::PlacementTable placements =
      solver::assignment::unplaced_table(valuation, unplaced);
  solver::local_search::fill_idle_capacity(valuation, option_table, free_pools, placements);

  model::Placement joined;
  std::ranges::merge(placed, solver::assignment::placement_of(placements),
                     std::back_inserter(joined), {}, &model::JobPlacement::job,
                     &model::JobPlacement::job);
  placed = std::move(joined);
  unplaced = solver::assignment::unplaced_of(placements);
}

}  // namespace berth::test
