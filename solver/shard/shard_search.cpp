// SPDX-License-Identifier: Apache-2.0
#include "local_search/insertion.hpp"
#include "shard/shard_state.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "berth/base/infinity.hpp"
#include "berth/parallel/loops.hpp"
#include "berth/planner_model/precedence.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/shard_planning.hpp"

namespace berth::solver {
namespace {

constexpr std::size_t kBatch = 64;       ///< insertions searched on one snapshot; chosen, not tuned
constexpr std::int64_t kLargeGang = 24;  ///< GPUs: as many as a chain ejects jobs; not tuned

/// Searches insertions in parallel on a frozen snapshot and commits them by gain, ties by
/// precedence. An insertion whose machines have changed since is searched again.
/// @param costs  of the present content, or null
double improve_batch(ShardState& s, std::span<const JobId> batch,
                     const local_search::EvictionCostBounds* costs = nullptr) {
  Occupancy& occupancy = s.occupancy;
  std::vector<local_search::Insertion> found(batch.size());
  parallel::run_tasks(batch.size(), [&](std::size_t i) {
    if (s.run.stop.requested()) return;
    found[i] = local_search::find_insertion(occupancy, batch[i], {.costs = costs});
  });
  std::vector<std::size_t> order;  // ties stay in the order of the batch
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (found[i].gain > 0.0) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return found[i].gain; });
  double gained = 0.0;
  std::set<MachineId> touched;
  for (const std::size_t i : order) {
    if (s.run.stop.requested()) break;
    const auto stale = [&](MachineId m) { return touched.contains(m); };
    const auto gone = [&](JobId victim) { return !occupancy.is_placed(victim); };
    if (std::ranges::any_of(found[i].machines, stale) ||
        std::ranges::any_of(found[i].victims, gone)) {
      found[i] = local_search::find_insertion(occupancy, batch[i]);
    }
    if (found[i].gain <= 0.0) continue;
    for (const JobId victim : found[i].victims) {
      for (const auto& task : occupancy.placed(victim).tasks) touched.insert(task.machine);
    }
    const local_search::InsertionOutcome outcome =
        local_search::insert(occupancy, batch[i], found[i], 0.0);
    if (outcome.gain <= 0.0) continue;
    gained += outcome.gain;
    touched.insert(found[i].machines.begin(), found[i].machines.end());
    for (const JobId victim : found[i].victims) {
      if (!occupancy.is_placed(victim)) continue;
      for (const auto& task : occupancy.placed(victim).tasks) touched.insert(task.machine);
    }
    s.evicted.insert(outcome.evicted.begin(), outcome.evicted.end());
  }
  return gained;
}

/// Inserts the large unplaced gangs that are profitable at the prices, at most one batch by
/// descending profit, and evicts what is worth less. Ejection chains count GPUs alone: they do not
/// free the CPU and memory that each of many machines must have.
double insert_large_gangs(ShardState& s, const PricedPools& own) {
  std::vector<double> least(s.valuation->instance().cluster.gpu_types.size(), kInfinity);
  for (std::size_t p = 0; p < own.prices.size(); ++p) {
    const GpuTypeId type = own.pools.pools[p].gpu_type;
    if (type.valid()) least[type.index()] = std::min(least[type.index()], own.prices[p]);
  }
  std::vector<std::pair<double, planner_model::Precedence>> order;
  for (const JobId id : s.occupancy.unplaced_jobs()) {
    const model::Job& job = s.workload().job(id);
    if (s.workload().gpu_milli(job) <= kLargeGang * model::kGpuMilli) continue;
    const double regret = s.regret(id, least);
    if (regret > 0.0) order.emplace_back(-regret, planner_model::precedence(*s.valuation, id));
  }
  if (order.empty()) return 0.0;
  std::ranges::sort(order, std::less<>{});
  order.resize(std::min(order.size(), kBatch));
  std::vector<JobId> batch;
  for (const auto& [regret, next] : order) batch.push_back(next.job);
  const local_search::EvictionCostBounds costs(s.occupancy);
  return improve_batch(s, batch, &costs);
}

/// Number of placed required jobs, and value less surcharges of the occupancy.
std::pair<std::size_t, double> score(const Occupancy& occupancy) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  const auto required = [&](const JobEntry& entry) {
    return entry.is_placed() && workload.job(entry.job()).required;
  };
  return {static_cast<std::size_t>(std::ranges::count_if(occupancy.entries(), required)),
          occupancy.value() - occupancy.limit_usage().surcharges()};
}

/// True when some job pays a price for quotas or uplinks.
bool has_limit_prices(const ShardState& s) {
  if (s.occupancy.limit_usage().limits() == nullptr) return false;
  const planner_model::Valuation unpriced = s.valuation->unpriced();
  const auto pays = [&](JobId job) { return s.valuation->best(job) != unpriced.best(job); };
  return std::ranges::any_of(s.occupancy.entries(), [&](const JobEntry& entry) {
    return entry.is_placed() ? entry.value != entry.unpriced_value : pays(entry.job());
  });
}

/// Inserts large gangs, then searches, by the present values of the occupancy. Returns the value
/// gained.
double search_by_values(ShardState& s, std::span<const double> prices, const SearchEffort& effort) {
  const auto [own, in_all] =
      planner_model::pool_subset(s.valuation->instance().cluster, *s.pools, s.machines);
  std::vector<double> own_prices;
  for (const PoolId p : in_all) own_prices.push_back(prices[p.index()]);
  const double gained = insert_large_gangs(s, {own, own_prices});
  s.evicted.clear();
  return gained + solver::improve(s.occupancy, {own, own_prices}, effort, s.run.stop);
}

/// Local search by values less prices of limits, then by the values (decision 15). Prices give
/// scarce limits to the right jobs but leave some of them unused. If the result is worse than the
/// start, the search is repeated from the start by the values only, which cannot lose.
double search_by_both_values(ShardState& s, std::span<const double> prices,
                             const SearchEffort& effort) {
  Occupancy& occupancy = s.occupancy;
  const planner_model::CouplingLimits* limits = occupancy.limit_usage().limits();
  const planner_model::Valuation unpriced = s.valuation->unpriced();
  planner_model::CouplingLimits uncharged = *limits;
  uncharged.charge({});
  Occupancy start = occupancy;
  start.revalue(unpriced, &uncharged);
  const auto before = score(start);
  search_by_values(s, prices, effort);
  occupancy.revalue(unpriced, &uncharged);
  search_by_values(s, prices, effort);
  if (score(occupancy) < before) {
    occupancy = std::move(start);
    search_by_values(s, prices, effort);
  }
  const double gained = score(occupancy).second - before.second;
  occupancy.revalue(*s.valuation, limits);
  return gained;
}

}  // namespace

double improve(Shard& shard) {
  ShardState& s = shard.state();
  double total = 0.0;
  for (int sweep = 0; sweep < s.options.sweeps && !s.evicted.empty(); ++sweep) {
    std::vector<std::pair<double, planner_model::Precedence>> order;
    for (const JobId job : s.evicted) {
      if (!s.occupancy.is_waiting(job)) continue;
      order.emplace_back(-s.regret(job), planner_model::precedence(*s.valuation, job));
    }
    std::ranges::sort(order, std::less<>{});
    s.evicted.clear();
    std::vector<JobId> queue;
    for (const auto& [regret, next] : order) queue.push_back(next.job);
    for (std::size_t first = 0; first < queue.size(); first += kBatch) {
      const std::size_t count = std::min(kBatch, queue.size() - first);
      total += improve_batch(s, std::span(queue).subspan(first, count));
    }
  }
  return total;
}

double search(Shard& shard, std::span<const double> prices, const SearchEffort& effort) {
  ShardState& s = shard.state();
  return has_limit_prices(s) ? search_by_both_values(s, prices, effort)
                             : search_by_values(s, prices, effort);
}

}  // namespace berth::solver
