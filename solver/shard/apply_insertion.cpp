// SPDX-License-Identifier: Apache-2.0
#include "shard/candidate_domains.hpp"
#include "shard/insertion.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace berth::solver {

using model::JobPlacement;
using model::Level;

bool place_in_idle_capacity(Occupancy& occupancy, JobId id) {
  std::vector<std::pair<double, const Domain*>> order;
  const bool required = occupancy.valuation().instance().workload.job(id).required;
  const std::optional<double> surcharge = occupancy.limit_usage().surcharge(id);
  if (!surcharge) return false;
  for_each_candidate_domain(occupancy, id, Level::cluster, [&](const Domain& domain, double value) {
    if (value >= *surcharge || required) order.emplace_back(value, &domain);
  });
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  const model::Workload& workload = occupancy.valuation().instance().workload;
  for (const auto& [value, domain] : order) {
    std::vector<MachineId> open = domain->machines;
    std::erase_if(open, [&, level = domain->level](MachineId m) {
      return !occupancy.limit_usage().may_cross(id, m, level);
    });
    auto placement = model::place_job(occupancy.room(), workload, id, open);
    if (!placement) continue;
    if (!occupancy.limit_usage().carries(*placement)) {
      model::release(occupancy.room(), workload, *placement);
      continue;
    }
    occupancy.record(std::move(*placement));
    return true;
  }
  return false;
}

InsertionOutcome apply_insertion(Occupancy& occupancy, JobId job, const Insertion& insertion,
                                 double at_least) {
  const model::Workload& workload = occupancy.valuation().instance().workload;
  std::vector<JobPlacement> before;
  double gain = occupancy.limit_usage().surcharges();
  std::vector<JobId> victims = insertion.victims;
  std::ranges::sort(victims, std::less<>{},
                    [&](JobId victim) { return occupancy.precedence_of(victim); });
  for (const JobId victim : insertion.victims) {
    gain -= occupancy.value_of(victim);
    before.push_back(occupancy.remove(victim));
  }
  std::optional<JobPlacement> placement;
  if (occupancy.limit_usage().surcharge(job)) {
    placement = model::place_job(occupancy.room(), workload, job, insertion.machines);
  }
  std::vector<JobId> back;
  InsertionOutcome outcome;
  if (placement && !occupancy.limit_usage().carries(*placement)) {
    model::release(occupancy.room(), workload, *placement);
    placement.reset();
    outcome.refused_by_uplink = true;
  }
  if (placement) {
    occupancy.record(std::move(*placement));
    gain += occupancy.value_of(job);
    for (const JobId victim : victims) {
      if (!place_in_idle_capacity(occupancy, victim)) {
        outcome.evicted.push_back(victim);
        continue;
      }
      back.push_back(victim);
      gain += occupancy.value_of(victim);
    }
    gain -= occupancy.limit_usage().surcharges();
    if (gain >= at_least && gain > 0.0) {
      outcome.gain = gain;
      return outcome;
    }
    occupancy.remove(job);
  }
  for (const JobId victim : back) occupancy.remove(victim);
  for (JobPlacement& old : before) occupancy.add(std::move(old));
  return {.evicted = {}, .refused_by_uplink = outcome.refused_by_uplink};
}

}  // namespace berth::solver
