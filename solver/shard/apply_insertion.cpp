// SPDX-License-Identifier: Apache-2.0
#include "shard/insertion.hpp"
#include "shard/reach.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace berth::solver {

using model::JobPlacement;
using model::Level;

bool place_idle(Tenancy& tenancy, JobId id) {
  std::vector<std::pair<double, const Domain*>> order;
  const bool required = tenancy.valuation().instance().workload.job(id).required;
  const std::optional<double> surcharge = tenancy.ledger().surcharge(id);
  if (!surcharge) return false;
  for_each_domain(tenancy, id, Level::cluster, [&](const Domain& domain, double value) {
    if (value >= *surcharge || required) order.emplace_back(value, &domain);
  });
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  const model::Workload& workload = tenancy.valuation().instance().workload;
  for (const auto& [value, domain] : order) {
    std::vector<MachineId> open = domain->machines;
    std::erase_if(open, [&, level = domain->level](MachineId m) {
      return !tenancy.ledger().may_cross(id, m, level);
    });
    auto placement = model::place_job(tenancy.room(), workload, id, open);
    if (!placement) continue;
    if (!tenancy.ledger().carries(*placement)) {
      model::release(tenancy.room(), workload, *placement);
      continue;
    }
    tenancy.adopt(std::move(*placement));
    return true;
  }
  return false;
}

Applied apply_insertion(Tenancy& tenancy, JobId job, const Insertion& insertion, double at_least) {
  const model::Workload& workload = tenancy.valuation().instance().workload;
  std::vector<JobPlacement> before;
  double gain = tenancy.ledger().surcharges();
  for (const JobId victim : insertion.victims) {
    gain -= tenancy.value_of(victim);
    before.push_back(tenancy.remove(victim));
  }
  std::vector<JobId> victims = insertion.victims;
  std::ranges::sort(victims);
  std::optional<JobPlacement> placement;
  if (tenancy.ledger().surcharge(job)) {
    placement = model::place_job(tenancy.room(), workload, job, insertion.machines);
  }
  std::vector<JobId> back;
  Applied applied;
  if (placement && !tenancy.ledger().carries(*placement)) {
    model::release(tenancy.room(), workload, *placement);
    placement.reset();
    applied.crowded = true;
  }
  if (placement) {
    tenancy.adopt(std::move(*placement));
    gain += tenancy.value_of(job);
    for (const JobId victim : victims) {
      if (!place_idle(tenancy, victim)) {
        applied.pushed_out.push_back(victim);
        continue;
      }
      back.push_back(victim);
      gain += tenancy.value_of(victim);
    }
    gain -= tenancy.ledger().surcharges();
    if (gain >= at_least && gain > 0.0) {
      applied.gain = gain;
      return applied;
    }
    tenancy.remove(job);
  }
  for (const JobId victim : back) tenancy.remove(victim);
  for (JobPlacement& old : before) tenancy.add(std::move(old));
  return {.pushed_out = {}, .crowded = applied.crowded};
}

}  // namespace berth::solver
