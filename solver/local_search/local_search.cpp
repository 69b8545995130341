// SPDX-License-Identifier: Apache-2.0
// The searches of the dive as functions on a placement.
#include "assignment/free_pools.hpp"
#include "assignment/option_table.hpp"
#include "local_search/cyclic_exchange.hpp"
#include "local_search/ejection_chains.hpp"
#include "local_search/fill.hpp"
#include "local_search/machine_repartition.hpp"

#include <algorithm>
#include <iterator>

#include "berth/base/assert.hpp"
#include "berth/solver/dive.hpp"

namespace berth::solver {
namespace {

assignment::PlacementTable table_of(std::span<const JobId> unplaced, model::Placement placed) {
  assignment::PlacementTable placements;
  for (const JobId j : unplaced) placements.placed.push_back({.job = j, .tasks = {}});
  std::ranges::move(placed, std::back_inserter(placements.placed));
  std::ranges::sort(placements.placed, {}, &model::JobPlacement::job);
  for (const model::JobPlacement& p : placements.placed) placements.jobs.push_back(p.job);
  return placements;
}

}  // namespace

double improve(const model::Valuation& valuation, const model::Pools& pools, model::Room& room,
               std::span<const MachineId> machines, std::vector<JobId>& unplaced,
               model::Placement& placed, std::span<const double> prices, const SearchEffort& effort,
               const StopToken& stop, model::LimitUsage* limit_usage) {
  BERTH_EXPECT(prices.size() == pools.size());
  const model::Instance& instance = valuation.instance();
  assignment::PlacementTable placements = table_of(unplaced, std::move(placed));
  if (limit_usage != nullptr && limit_usage->limits() != nullptr)
    placements.limit_usage = limit_usage;
  const assignment::PoolIndex pool_index(instance.cluster, pools);
  const assignment::OptionTable option_table(valuation, pool_index, placements.jobs);
  assignment::FreePools free_pools(instance, pool_index, room, machines);
  double gained = local_search::MachineRepartition(valuation, option_table, free_pools, placements)
                      .run(effort.repartitions, stop);
  gained += local_search::EjectionChains(valuation, option_table, free_pools, placements, prices)
                .run(effort.chains, stop);
  placed = assignment::placement_of(placements);
  unplaced = assignment::unplaced_of(placements);
  return gained;
}

double cyclic_exchange(const model::Valuation& valuation, const model::Pools& pools,
                       std::vector<JobId>& unplaced, model::Placement& placed,
                       const StopToken& stop, const model::CouplingLimits* limits) {
  model::LimitUsage limit_usage(valuation.instance(), limits);
  for (const model::JobPlacement& p : placed) limit_usage.add(p);
  assignment::PlacementTable placements = table_of(unplaced, std::move(placed));
  if (limit_usage.limits() != nullptr) placements.limit_usage = &limit_usage;
  const assignment::PoolIndex pool_index(valuation.instance().cluster, pools);
  const assignment::OptionTable option_table(valuation, pool_index, placements.jobs);
  double gained = 0.0;
  for (local_search::CyclicExchange& exchange :
       local_search::make_exchanges(valuation, option_table, pool_index, placements)) {
    // No profile may use what another one frees: profiles are exchanged on different ranks.
    for (std::size_t l = 0; l < limit_usage.size(); ++l) limit_usage.allow(l, limit_usage.use(l));
    if (!stop.requested()) gained += exchange.cancel_cycles();
  }
  placed = assignment::placement_of(placements);
  unplaced = assignment::unplaced_of(placements);
  return gained;
}

}  // namespace berth::solver
