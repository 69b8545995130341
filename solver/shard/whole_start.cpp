// SPDX-License-Identifier: Apache-2.0
#include "shard/whole_start.hpp"

#include "local_search/fill_idle_capacity.hpp"

#include <algorithm>
#include <vector>

#include "berth/solver/selected_start.hpp"

namespace berth::solver {
namespace {

/// Share of the value that the local search may be expected to win. Chosen, not tuned.
constexpr double kSearchGain = 0.005;
/// The same where running jobs may return to their places: up to 1.4 % on `production`.
constexpr double kReturnGain = 0.02;

}  // namespace

std::pair<int, double> whole_score(const Occupancy& occupancy) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  int required = 0;
  for (const JobEntry& entry : occupancy.entries()) {
    required += entry.is_placed() && workload.job(entry.job()).required ? 1 : 0;
  }
  return {required, occupancy.value() - occupancy.limit_usage().surcharges()};
}

Occupancy without_placements(const planner_model::Valuation& valuation,
                             const planner_model::CouplingLimits* limits) {
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < valuation.instance().cluster.machines(); ++m)
    machines.emplace_back(m);
  Occupancy occupancy(valuation, machines, limits);
  occupancy.admit(model::planned_jobs(valuation.instance().workload));
  for (std::size_t l = 0; l < occupancy.limit_usage().size(); ++l) {
    occupancy.limit_usage().allow(l, limits->capacity(l));
  }
  return occupancy;
}

BestStart::BestStart(const Occupancy& empty, const model::Placement& placement)
    : best_(empty),
      search_gain_(some_job_may_move(empty.valuation().instance().workload) ? kReturnGain
                                                                            : kSearchGain) {
  for (const model::JobPlacement& placed : placement) best_.take(placed);
  first_ = whole_score(best_);
}

void BestStart::offer(Occupancy start, const PricedPools& pools, const SearchEffort& effort,
                      const StopToken& stop) {
  local_search::fill_idle_capacity(start, start.unplaced_jobs(), stop);
  if (whole_score(start).second < (1.0 - search_gain_) * whole_score(best_).second) return;
  improve(start, pools, effort, stop);
  if (whole_score(start) > whole_score(best_)) best_ = std::move(start);
}

double BestStart::write(model::Placement& placement) const {
  const auto score = whole_score(best_);
  if (score <= first_) return 0.0;
  placement = best_.placement();
  return score.second - first_.second;
}

}  // namespace berth::solver
