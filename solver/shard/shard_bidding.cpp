// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/shard_bidding.hpp"

#include "local_search/insertion.hpp"
#include "shard/shard_state.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "berth/parallel/loops.hpp"

namespace berth::solver {

std::vector<JobOffer> offers(const Shard& shard) {
  const ShardState& s = shard.state();
  std::vector<JobOffer> found;
  for (const JobId job : s.occupancy.unplaced_jobs()) {
    const double regret = s.regret(job);
    if (regret > 0.0) found.push_back({job, s.id, regret});
  }
  return found;
}

std::vector<EvictionCost> eviction_costs(const Shard& shard) {
  const ShardState& s = shard.state();
  const Occupancy& occupancy = s.occupancy;
  const local_search::EvictionCostBounds costs(occupancy, {{model::Level::cluster}});
  std::vector<EvictionCost> found;
  for (const GpuTypeId type : occupancy.index().types()) {
    const Domain& whole = occupancy.index().domains(type, model::Level::cluster).front();
    EvictionCost& eviction_cost = found.emplace_back(EvictionCost{.shard = s.id, .type = type});
    for (std::size_t k = 0; k < eviction_cost.least.size(); ++k) {
      eviction_cost.least[k] = costs.least(whole, std::int64_t{1000} << k);
    }
  }
  return found;
}

std::vector<Bid> bids(const Shard& shard, std::span<const JobId> jobs,
                      std::span<const std::int64_t> left) {
  const ShardState& s = shard.state();
  std::vector<Bid> found(jobs.size());
  const local_search::EvictionCostBounds costs(s.occupancy);
  parallel::run_tasks(jobs.size(), [&](std::size_t i) {
    if (s.run.stop.requested()) return;
    const std::int64_t milli = s.workload().gpu_milli(s.workload().job(jobs[i]));
    const auto quotas = s.occupancy.limit_usage().quotas_of(jobs[i]);
    const bool draws = !quotas.empty() && std::ranges::all_of(quotas, [&](std::uint32_t q) {
      return q < left.size() && left[q] >= milli;
    });
    const std::int64_t drawn = draws ? milli : 0;
    const local_search::Insertion best =
        local_search::find_insertion(s.occupancy, jobs[i], {.costs = &costs, .drawn = drawn});
    found[i] = {jobs[i], s.id, best.gain, drawn};
  });
  std::erase_if(found, [](const Bid& bid) { return bid.gain <= 0.0; });
  return found;
}

double realise(Shard& shard, JobId job, double at_least, std::int64_t drawn) {
  ShardState& s = shard.state();
  if (s.run.stop.requested()) return 0.0;
  planner_model::LimitUsage& limit_usage = s.occupancy.limit_usage();
  const auto raise = [&](std::int64_t by) {
    for (const std::uint32_t q : limit_usage.quotas_of(job)) {
      if (limit_usage.allowance(q) != model::kNoLimit)
        limit_usage.allow(q, limit_usage.allowance(q) + by);
    }
  };
  raise(drawn);
  const bool held = s.occupancy.holds(job);
  s.occupancy.admit(job);
  const local_search::Insertion found = local_search::find_insertion(s.occupancy, job);
  local_search::InsertionOutcome outcome;
  if (found.gain >= at_least && found.gain > 0.0)
    outcome = local_search::insert(s.occupancy, job, found, at_least);
  if (outcome.gain <= 0.0) {
    raise(-drawn);
    if (!held) s.occupancy.forget(job);
    return 0.0;
  }
  s.evicted.insert(outcome.evicted.begin(), outcome.evicted.end());
  return outcome.gain;
}

std::vector<double> marginal_prices(const Shard& shard) {
  const ShardState& s = shard.state();
  const model::Cluster& cluster = s.valuation->instance().cluster;
  std::vector<double> price(cluster.gpu_types.size(), std::numeric_limits<double>::infinity());
  for (const MachineId m : s.machines) {
    const GpuTypeId type = cluster.class_of(m).gpu_type;
    if (!type.valid()) continue;
    double& least = price[type.index()];
    if (s.occupancy.room().whole_devices(m) != 0) least = 0.0;
    for (const Occupant& r : s.occupancy.occupants(m)) {
      if (r.milli > 0 && r.evictable) least = std::min(least, 1000.0 * r.density);
    }
  }
  return price;
}

}  // namespace berth::solver
