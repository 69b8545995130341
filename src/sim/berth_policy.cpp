// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/berth_policy.hpp"

#include "berth_preemptive.hpp"
#include "planned_starts.hpp"

namespace berth::sim {

double mean_gap(const BerthCounts& counts) {
  if (counts.rounds.empty()) return 0.0;
  double sum = 0.0;
  for (const PriceRound& round : counts.rounds) {
    if (round.cost > 0.0) sum += 1.0 - round.bound / round.cost;
  }
  return sum / static_cast<double>(counts.rounds.size());
}

std::unique_ptr<policy::Policy> make_berth(const BerthOptions& options, BerthCounts& counts,
                                           const model::Workload* workload) {
  if (!options.preemption && options.objective == OnlineObjective::flow) {
    return std::make_unique<PlannedStarts>(options, counts);
  }
  return std::make_unique<BerthPreemptive>(options, counts, workload);
}

}  // namespace berth::sim
