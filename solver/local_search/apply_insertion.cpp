// SPDX-License-Identifier: Apache-2.0
#include "local_search/candidate_domains.hpp"
#include "local_search/insertion.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace berth::solver::local_search {

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
      return !occupancy.limit_usage().admits(id, m, level);
    });
    auto placement = occupancy.fit(id, open);
    if (!placement || !occupancy.limit_usage().carries(*placement)) continue;
    occupancy.take(std::move(*placement));
    return true;
  }
  return false;
}

namespace {

/// Carries an insertion out as `insert` does. Empty: limits of racks and pods refused it, nothing
/// was changed.
std::optional<InsertionOutcome> apply_insertion(Occupancy& occupancy, JobId job,
                                                const Insertion& insertion, double at_least) {
  const Occupancy::Mark mark = occupancy.mark();
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
  const bool refused = placement && !occupancy.limit_usage().carries(*placement);
  InsertionOutcome outcome;
  if (placement && !refused) {
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
  if (refused) return std::nullopt;
  return InsertionOutcome{};
}

}  // namespace

InsertionOutcome insert(Occupancy& occupancy, JobId job, const Insertion& found, double at_least) {
  if (auto outcome = apply_insertion(occupancy, job, found, at_least)) return *outcome;
  const Insertion narrow = find_insertion(occupancy, job, {.widest = Level::rack});
  if (narrow.gain <= 0.0 || narrow.gain < at_least) return {};
  return apply_insertion(occupancy, job, narrow, at_least).value_or(InsertionOutcome{});
}

}  // namespace berth::solver::local_search
