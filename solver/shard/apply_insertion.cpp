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
  for (const auto& [value, domain] : order) {
    std::vector<MachineId> open = domain->machines;
    std::erase_if(open, [&, level = domain->level](MachineId m) {
      return !occupancy.limit_usage().may_cross(id, m, level);
    });
    auto placement = occupancy.fit(id, open);
    if (!placement || !occupancy.limit_usage().carries(*placement)) continue;
    occupancy.take(std::move(*placement));
    return true;
  }
  return false;
}

InsertionOutcome apply_insertion(Occupancy& occupancy, JobId job, const Insertion& insertion,
                                 double at_least) {
  const Occupancy::Mark mark = occupancy.mark();
  InsertionOutcome outcome;
  double gain = occupancy.limit_usage().surcharges();
  std::vector<JobId> victims = insertion.victims;
  std::ranges::sort(victims, std::less<>{},
                    [&](JobId victim) { return occupancy.precedence_of(victim); });
  for (const JobId victim : insertion.victims) {
    gain -= occupancy.value_of(victim);
    occupancy.give_back(victim);
  }
  std::optional<JobPlacement> placement;
  if (occupancy.limit_usage().surcharge(job)) placement = occupancy.fit(job, insertion.machines);
  if (placement && !occupancy.limit_usage().carries(*placement)) {
    placement.reset();
    outcome.refused_by_uplink = true;
  }
  if (placement) {
    occupancy.take(std::move(*placement));
    gain += occupancy.value_of(job);
    for (const JobId victim : victims) {
      if (place_in_idle_capacity(occupancy, victim)) {
        gain += occupancy.value_of(victim);
      } else {
        outcome.evicted.push_back(victim);
      }
    }
    gain -= occupancy.limit_usage().surcharges();
    if (gain >= at_least && gain > 0.0) {
      occupancy.keep(mark);
      outcome.gain = gain;
      return outcome;
    }
  }
  occupancy.roll_back(mark);
  return {.evicted = {}, .refused_by_uplink = outcome.refused_by_uplink};
}

}  // namespace berth::solver
