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
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/model/equal_jobs.hpp"
#include "berth/model/precedence.hpp"
#include "berth/solver/dive.hpp"

namespace berth::solver {
namespace {

assignment::PlacementTable table_of(const model::Valuation& valuation,
                                    std::span<const JobId> unplaced, model::Placement placed) {
  assignment::PlacementTable placements;
  for (const JobId j : unplaced) placements.placed.push_back({.job = j, .tasks = {}});
  std::ranges::move(placed, std::back_inserter(placements.placed));
  std::ranges::sort(placements.placed, {}, &model::JobPlacement::job);
  for (const model::JobPlacement& p : placements.placed) placements.jobs.push_back(p.job);
  placements.rank = model::precedence_ranks(valuation, placements.jobs);
  return placements;
}

/// Of equal jobs those with precedence are placed, and where their value is most. The value and
/// the load of the places stay.
void serve_equal_jobs(const model::Valuation& valuation, assignment::PlacementTable& placements) {
  const model::Workload& workload = valuation.instance().workload;
  std::vector<model::EqualJob> jobs;
  for (std::size_t i = 0; i < placements.jobs.size(); ++i) {
    const model::Job& job = workload.job(placements.jobs[i]);
    if (job.running >= 0) continue;
    const bool lies = placements.is_placed(i);
    jobs.push_back({.of = model::job_class(workload, job),
                    .precedence = model::precedence(valuation, placements.jobs[i]),
                    .placed = lies,
                    .value = lies ? valuation.placed(placements.placed[i]) : 0.0});
  }
  const auto place_of = [&](JobId job) -> std::vector<model::TaskPlacement>& {
    return std::ranges::lower_bound(placements.placed, job, {}, &model::JobPlacement::job)->tasks;
  };
  const std::vector<model::Handover> all = model::handovers(std::move(jobs));
  std::vector<std::vector<model::TaskPlacement>> given;
  for (const model::Handover& h : all) given.push_back(std::exchange(place_of(h.from), {}));
  for (std::size_t k = 0; k < all.size(); ++k) place_of(all[k].to) = std::move(given[k]);
}

}  // namespace

double improve(const model::Valuation& valuation, const model::Pools& pools, model::Room& room,
               std::span<const MachineId> machines, std::vector<JobId>& unplaced,
               model::Placement& placed, std::span<const double> prices, const SearchEffort& effort,
               const StopToken& stop, model::LimitUsage* limit_usage) {
  BERTH_EXPECT(prices.size() == pools.size());
  const model::Instance& instance = valuation.instance();
  assignment::PlacementTable placements = table_of(valuation, unplaced, std::move(placed));
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
  assignment::PlacementTable placements = table_of(valuation, unplaced, std::move(placed));
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
  serve_equal_jobs(valuation, placements);
  placed = assignment::placement_of(placements);
  unplaced = assignment::unplaced_of(placements);
  return gained;
}

}  // namespace berth::solver
