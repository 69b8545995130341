// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/free_pools.hpp"
#include "assignment/option_table.hpp"
#include "local_search/fill.hpp"

#include <vector>

#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/precedence.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::test {

/// Adds to a plan greedily: unplaced jobs of positive value (and required ones, first) go into idle
/// room, the best value per GPU first; CPU-only jobs last. Needs the solver's own headers.
inline void add_greedily(solver::Occupancy& occupancy) {
  const planner_model::Valuation& valuation = occupancy.valuation();
  const model::Cluster& cluster = valuation.instance().cluster;
  const std::vector<JobId> unplaced = occupancy.unplaced_jobs();
  const std::vector<std::uint32_t> ranks = planner_model::precedence_ranks(valuation, unplaced);
  const planner_model::Pools pools = planner_model::make_pools(cluster, model::Level::rack);
  const solver::assignment::PoolIndex pool_index(cluster, pools);
  const solver::assignment::OptionTable option_table(valuation, pool_index, unplaced);
  solver::assignment::FreePools free_pools(pool_index, occupancy);
  solver::local_search::fill_idle_capacity(
      {occupancy, option_table, pool_index, free_pools, unplaced, ranks}, free_pools);
}

}  // namespace berth::test
