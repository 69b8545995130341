// SPDX-License-Identifier: Apache-2.0
// What a shard has to do with limits.
#include "shard/shard_state.hpp"

#include <algorithm>
#include <functional>

namespace berth::solver {

using model::JobPlacement;

/// Of which racks and pods with a limit it has all machines, and of which only some.
void Shard::LocalState::classify_place_limits() {
  const model::CouplingLimits* limits = occupancy.limit_usage().limits();
  if (limits == nullptr || !limits->of_places()) return;
  const model::Cluster& cluster = valuation->instance().cluster;
  std::vector<std::int64_t> all(cluster.racks.size() + cluster.pods.size(), 0), here = all;
  const auto count = [&](std::vector<std::int64_t>& counts, MachineId m) {
    ++counts[cluster.machine_rack[m.index()].index()];
    ++counts[cluster.racks.size() + cluster.pod_of(m).index()];
  };
  for (std::size_t m = 0; m < cluster.machines(); ++m) count(all, MachineId(m));
  for (const MachineId m : machines) count(here, m);
  for (std::size_t l = limits->of_queues(); l < limits->size(); ++l) {
    const model::LimitScope& scope = (*limits)[l].scope;
    const std::size_t at =
        scope.rack.valid() ? scope.rack.index() : cluster.racks.size() + scope.pod.index();
    if (here[at] == 0 || limits->capacity(l) == model::kNoLimit) continue;
    (here[at] == all[at] ? own_limits : shared_limits).push_back(l);
  }
}

/// Of its unplaced jobs. Any of them may use limits of racks and pods that several shards share.
std::int64_t Shard::LocalState::demand(std::size_t limit) const {
  std::int64_t sum = 0;
  const model::CouplingLimits& limits = *occupancy.limit_usage().limits();
  for (const JobId job : unplaced) {
    const model::Job& record = workload().job(job);
    if (limit >= limits.of_queues()) {
      sum += limits.most_use(limits[limit].kind, job);
    } else if (std::ranges::find(occupancy.limit_usage().quotas_of(job), limit) !=
               occupancy.limit_usage().quotas_of(job).end()) {
      sum += workload().gpu_milli(record);
    }
  }
  return sum;
}

/// Some job pays for limits.
bool Shard::LocalState::has_limit_prices() const {
  if (occupancy.limit_usage().limits() == nullptr) return false;
  const model::Valuation unpriced(valuation->instance(), valuation->objective());
  const auto pays = [&](JobId job) { return valuation->best(job) != unpriced.best(job); };
  const auto paid = [&](JobId job) {
    return occupancy.value_of(job) != occupancy.unpriced_value_of(job);
  };
  return std::ranges::any_of(unplaced, pays) || std::ranges::any_of(occupancy.jobs(), paid);
}

/// Its limit_usage under other limits of the same kind.
model::LimitUsage Shard::LocalState::ledger_under(const model::CouplingLimits& limits) const {
  model::LimitUsage limit_usage(valuation->instance(), &limits);
  for (const JobId job : occupancy.jobs()) limit_usage.add(occupancy.placed(job));
  for (std::size_t l = 0; l < limit_usage.size(); ++l)
    limit_usage.allow(l, occupancy.limit_usage().allowance(l));
  return limit_usage;
}

/// Required jobs placed, and what all are worth.
std::pair<std::size_t, double> Shard::LocalState::score(const model::CouplingLimits& limits) const {
  const auto required = [&](JobId job) { return workload().job(job).required; };
  const std::vector<JobId> jobs = occupancy.jobs();
  return {static_cast<std::size_t>(std::ranges::count_if(jobs, required)),
          occupancy.value() - ledger_under(limits).surcharges()};
}

/// Prices tell which jobs a scarce limit is for, but leave some of it: so the search goes by values
/// less prices first, then by the values. Where that ends worse than it began it only does the
/// latter, which cannot.
double Shard::LocalState::search_by_both_values(std::span<const double> prices,
                                                const SearchEffort& effort) {
  const model::Valuation unpriced(valuation->instance(), valuation->objective());
  model::CouplingLimits uncharged = *occupancy.limit_usage().limits();
  uncharged.charge({});
  const auto before = score(uncharged);
  const model::Room room = occupancy.room();
  model::Placement placed = occupancy.placement();
  std::set<JobId> waiting = unplaced;

  model::LimitUsage priced = occupancy.limit_usage();
  search(*valuation, prices, effort, priced);
  model::LimitUsage bare = ledger_under(uncharged);
  search(unpriced, prices, effort, bare);
  if (score(uncharged) < before) {
    occupancy.room() = room;
    occupancy.replace(std::move(placed));
    unplaced = std::move(waiting);
    bare = ledger_under(uncharged);
    search(unpriced, prices, effort, bare);
  }
  return score(uncharged).second - before.second;
}

void Shard::allow(std::size_t limit, std::int64_t amount) {
  state_->occupancy.limit_usage().allow(limit, amount);
}

std::vector<LimitUse> Shard::limit_uses() const {
  const model::LimitUsage& limit_usage = state_->occupancy.limit_usage();
  std::vector<LimitUse> limit_uses;
  if (limit_usage.limits() == nullptr) return limit_uses;
  const auto add = [&](std::size_t limit) {
    limit_uses.push_back({state_->id, static_cast<std::uint32_t>(limit), limit_usage.use(limit),
                          state_->demand(limit)});
  };
  for (std::size_t q = 0; q < limit_usage.limits()->of_queues(); ++q) add(q);
  for (const std::size_t l : state_->shared_limits) add(l);
  return limit_uses;
}

void Shard::freeze_limits() {
  model::LimitUsage& limit_usage = state_->occupancy.limit_usage();
  if (limit_usage.limits() == nullptr) return;
  const auto hold = [&](std::size_t limit) { limit_usage.allow(limit, limit_usage.use(limit)); };
  for (std::size_t q = 0; q < limit_usage.limits()->of_queues(); ++q) hold(q);
  for (const std::size_t l : state_->shared_limits) hold(l);
}

const std::vector<std::size_t>& Shard::own_limits() const { return state_->own_limits; }

std::int64_t Shard::excess(std::size_t limit) const {
  return std::max<std::int64_t>(0, -state_->occupancy.limit_usage().left(limit));
}

std::vector<EvictionCandidate> Shard::eviction_candidates(std::size_t limit,
                                                          std::int64_t amount) const {
  const Occupancy& occupancy = state_->occupancy;
  std::vector<EvictionCandidate> all;
  for (const JobId job : occupancy.jobs()) {
    const std::int64_t taken = occupancy.limit_usage().amount(limit, occupancy.placed(job));
    if (taken <= 0) continue;
    const double worth = occupancy.unpriced_value_of(job) / static_cast<double>(taken);
    all.push_back({taken, model::precedence(state_->workload(), job, worth)});
  }
  std::ranges::sort(all, std::greater<>{}, &EvictionCandidate::precedence);
  std::size_t enough = 0;
  for (; enough < all.size() && amount > 0; ++enough) amount -= all[enough].amount;
  all.resize(enough);
  return all;
}

void Shard::unplace(JobId job) {
  if (!state_->occupancy.has(job)) return;
  state_->occupancy.remove(job);
  state_->unplaced.insert(job);
  state_->evicted.insert(job);
}

void Shard::unreserve(const JobPlacement& placement) {
  const auto groups = state_->workload().groups_of(state_->workload().job(placement.job));
  const auto here = [&](MachineId m) { return std::ranges::binary_search(state_->machines, m); };
  for (const auto& task : placement.tasks) {
    if (!here(task.machine)) continue;
    state_->occupancy.room().release(task, state_->workload().shape(groups[task.group].shape));
  }
  if (!here(placement.tasks.front().machine)) return;
  state_->unplaced.insert(placement.job);
  state_->evicted.insert(placement.job);
}

}  // namespace berth::solver
