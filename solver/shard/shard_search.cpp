// SPDX-License-Identifier: Apache-2.0
#include "shard/insertion.hpp"
#include "shard/occupancy.hpp"
#include "shard/shard_state.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "berth/model/precedence.hpp"
#include "berth/parallel/loops.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/shard.hpp"

namespace berth::solver {
namespace {

constexpr std::size_t kBatch = 64;  ///< insertions searched on one snapshot

}  // namespace

/// Carries an insertion out; one that the uplinks refuse is tried within a rack.
InsertionOutcome Shard::LocalState::insert(JobId job, const Insertion& found, double at_least) {
  InsertionOutcome outcome = apply_insertion(occupancy, job, found, at_least);
  if (outcome.gain > 0.0 || !outcome.refused_by_uplink) return outcome;
  const Insertion narrow = find_insertion(occupancy, job, {.widest = model::Level::rack});
  if (narrow.gain <= 0.0 || narrow.gain < at_least) return {};
  return apply_insertion(occupancy, job, narrow, at_least);
}

/// Searches on a frozen snapshot in parallel, commits in order of gain, then precedence; an
/// insertion whose machines have changed meanwhile is searched again.
double Shard::LocalState::improve_batch(std::span<const JobId> batch) {
  std::vector<Insertion> found(batch.size());
  parallel::run_tasks(batch.size(), [&](std::size_t i) {
    if (!run.stop.requested()) found[i] = find_insertion(occupancy, batch[i]);
  });
  std::vector<std::size_t> order;  // ties stay in the order of the batch
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (found[i].gain > 0.0) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return found[i].gain; });
  double gained = 0.0;
  std::set<MachineId> touched;
  for (const std::size_t i : order) {
    if (run.stop.requested()) break;
    const auto stale = [&](MachineId m) { return touched.contains(m); };
    const auto gone = [&](JobId victim) { return !occupancy.has(victim); };
    if (std::ranges::any_of(found[i].machines, stale) ||
        std::ranges::any_of(found[i].victims, gone)) {
      found[i] = find_insertion(occupancy, batch[i]);
    }
    if (found[i].gain <= 0.0) continue;
    for (const JobId victim : found[i].victims) {
      for (const auto& task : occupancy.placed(victim).tasks) touched.insert(task.machine);
    }
    const InsertionOutcome outcome = insert(batch[i], found[i], 0.0);
    if (outcome.gain <= 0.0) continue;
    gained += outcome.gain;
    touched.insert(found[i].machines.begin(), found[i].machines.end());
    for (const JobId victim : found[i].victims) {
      if (!occupancy.has(victim)) continue;
      for (const auto& task : occupancy.placed(victim).tasks) touched.insert(task.machine);
    }
    unplaced.erase(batch[i]);
    unplaced.insert(outcome.evicted.begin(), outcome.evicted.end());
    evicted.insert(outcome.evicted.begin(), outcome.evicted.end());
  }
  return gained;
}

double Shard::improve() {
  LocalState& s = *state_;
  double total = 0.0;
  for (int sweep = 0; sweep < s.options.sweeps && !s.evicted.empty(); ++sweep) {
    std::vector<std::pair<double, model::Precedence>> order;
    for (const JobId job : s.evicted) {
      if (!s.unplaced.contains(job)) continue;
      order.emplace_back(-s.regret(job), model::precedence(*s.valuation, job));
    }
    std::ranges::sort(order, std::less<>{});
    s.evicted.clear();
    std::vector<JobId> queue;
    for (const auto& [regret, next] : order) queue.push_back(next.job);
    for (std::size_t first = 0; first < queue.size(); first += kBatch) {
      const std::size_t count = std::min(kBatch, queue.size() - first);
      total += s.improve_batch(std::span(queue).subspan(first, count));
    }
  }
  return total;
}

double Shard::LocalState::search(const model::Valuation& by, std::span<const double> prices,
                                 const SearchEffort& effort, model::LimitUsage& limit_usage) {
  const auto [own, in_all] = model::pool_subset(by.instance().cluster, *pools, machines);
  std::vector<double> own_prices;
  for (const PoolId p : in_all) own_prices.push_back(prices[p.index()]);
  std::vector<JobId> waiting(unplaced.begin(), unplaced.end());
  model::Placement placed = occupancy.placement();
  const double gained = solver::improve(by, own, occupancy.room(), machines, waiting, placed,
                                        own_prices, effort, run.stop, &limit_usage);
  occupancy.replace(std::move(placed));
  unplaced = {waiting.begin(), waiting.end()};
  evicted.clear();
  return gained;
}

double Shard::search(std::span<const double> prices, const SearchEffort& effort) {
  LocalState& s = *state_;
  if (s.has_limit_prices()) return s.search_by_both_values(prices, effort);
  model::LimitUsage limit_usage = s.occupancy.limit_usage();
  return s.search(*s.valuation, prices, effort, limit_usage);
}

}  // namespace berth::solver
