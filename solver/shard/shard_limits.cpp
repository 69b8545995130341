// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/shard_limits.hpp"

#include "shard/shard_state.hpp"

#include <algorithm>
#include <functional>

namespace berth::solver {
namespace {

/// Demand of the shard's unplaced jobs for a limit. For limits that several shards share, other
/// than quotas, every job counts with its largest possible use.
std::int64_t demand(const ShardState& s, std::size_t limit) {
  std::int64_t sum = 0;
  const planner_model::LimitUsage& usage = s.occupancy.limit_usage();
  const planner_model::CouplingLimits& limits = *usage.limits();
  for (const JobId job : s.occupancy.unplaced_jobs()) {
    if (limit >= limits.of_queues()) {
      sum += limits.most_use(limit, job);
    } else if (std::ranges::find(usage.quotas_of(job), limit) != usage.quotas_of(job).end()) {
      sum += s.workload().gpu_milli(s.workload().job(job));
    }
  }
  return sum;
}

}  // namespace

void classify_place_limits(ShardState& s) {
  const planner_model::CouplingLimits* limits = s.occupancy.limit_usage().limits();
  if (limits == nullptr || !limits->of_places()) return;
  const model::Cluster& cluster = s.valuation->instance().cluster;
  std::vector<std::int64_t> all(cluster.racks.size() + cluster.pods.size(), 0), here = all;
  const auto count = [&](std::vector<std::int64_t>& counts, MachineId m) {
    ++counts[cluster.machine_rack[m.index()].index()];
    ++counts[cluster.racks.size() + cluster.pod_of(m).index()];
  };
  for (std::size_t m = 0; m < cluster.machines(); ++m) count(all, MachineId(m));
  for (const MachineId m : s.machines) count(here, m);
  for (std::size_t l = limits->of_queues(); l < limits->size(); ++l) {
    if ((*limits)[l].kind == model::LimitKind::license) {
      const bool alone = s.machines.size() == cluster.machines();
      (alone ? s.own_limits : s.shared_limits).push_back(l);
      if (alone) s.occupancy.limit_usage().allow(l, limits->capacity(l));
      continue;
    }
    const model::LimitScope& scope = (*limits)[l].scope;
    const std::size_t at =
        scope.rack.valid() ? scope.rack.index() : cluster.racks.size() + scope.pod.index();
    if (here[at] == 0 || limits->capacity(l) == model::kNoLimit) continue;
    (here[at] == all[at] ? s.own_limits : s.shared_limits).push_back(l);
    // What tasks need where they are is kept from the first placement on, traffic afterwards.
    const bool of_resource = row_of((*limits)[l].kind).resource < model::kResources;
    if (of_resource || limits->soft(l)) {
      s.occupancy.limit_usage().allow(l, limits->capacity(l) * here[at] / all[at]);
    }
  }
}

void allow(Shard& shard, std::size_t limit, std::int64_t amount) {
  shard.state().occupancy.limit_usage().allow(limit, amount);
}

std::vector<LimitUse> limit_uses(const Shard& shard) {
  const ShardState& s = shard.state();
  const planner_model::LimitUsage& limit_usage = s.occupancy.limit_usage();
  std::vector<LimitUse> uses;
  if (limit_usage.limits() == nullptr) return uses;
  const auto add = [&](std::size_t limit) {
    uses.push_back(
        {s.id, static_cast<std::uint32_t>(limit), limit_usage.use(limit), demand(s, limit)});
  };
  for (std::size_t q = 0; q < limit_usage.limits()->of_queues(); ++q) add(q);
  for (const std::size_t l : s.shared_limits) add(l);
  return uses;
}

void freeze_limits(Shard& shard) {
  ShardState& s = shard.state();
  planner_model::LimitUsage& limit_usage = s.occupancy.limit_usage();
  if (limit_usage.limits() == nullptr) return;
  const auto hold = [&](std::size_t limit) { limit_usage.allow(limit, limit_usage.use(limit)); };
  for (std::size_t q = 0; q < limit_usage.limits()->of_queues(); ++q) hold(q);
  for (const std::size_t l : s.shared_limits) hold(l);
}

const std::vector<std::size_t>& own_limits(const Shard& shard) { return shard.state().own_limits; }

double own_penalties(const Shard& shard) {
  const planner_model::LimitUsage& usage = shard.state().occupancy.limit_usage();
  double lost = 0.0;
  for (const std::size_t l : shard.state().own_limits) {
    if (!usage.limits()->soft(l) || usage.left(l) >= 0) continue;
    lost -= usage.limits()->penalty(l) * static_cast<double>(usage.left(l)) / 1000.0;
  }
  return lost;
}

std::int64_t excess(const Shard& shard, std::size_t limit) {
  return std::max<std::int64_t>(0, -shard.state().occupancy.limit_usage().left(limit));
}

std::vector<EvictionCandidate> eviction_candidates(const Shard& shard, std::size_t limit,
                                                   std::int64_t amount) {
  const ShardState& s = shard.state();
  const Occupancy& occupancy = s.occupancy;
  std::vector<EvictionCandidate> all;
  for (const JobId job : occupancy.placed_jobs()) {
    const std::int64_t taken = occupancy.limit_usage().amount(limit, occupancy.placed(job));
    if (taken <= 0) continue;
    const double worth = occupancy.unpriced_value_of(job) / static_cast<double>(taken);
    all.push_back({taken, planner_model::precedence(s.workload(), job, worth)});
  }
  std::ranges::sort(all, std::greater<>{}, &EvictionCandidate::precedence);
  std::size_t enough = 0;
  for (; enough < all.size() && amount > 0; ++enough) amount -= all[enough].amount;
  all.resize(enough);
  return all;
}

}  // namespace berth::solver
