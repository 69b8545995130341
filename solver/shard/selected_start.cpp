// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/selected_start.hpp"

#include "local_search/fill_idle_capacity.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/model/workload.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {
namespace {

/// Number of placed required jobs, and value less surcharges.
std::pair<int, double> whole_score(const Occupancy& occupancy) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  int required = 0;
  for (const JobEntry& entry : occupancy.entries()) {
    required += entry.is_placed() && workload.job(entry.job()).required ? 1 : 0;
  }
  return {required, occupancy.value() - occupancy.limit_usage().surcharges()};
}

/// All jobs, unplaced, on the whole cluster.
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

/// Places gangs of narrow domains before those of wide ones, single tasks last, and large jobs
/// before small ones: single tasks fit wherever a gang leaves a machine.
void fill_by_domain(Occupancy& occupancy, std::span<const JobId> selected, const StopToken& stop) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  // by single task, domain, descending GPUs
  std::map<std::tuple<bool, model::Level, std::int64_t>, std::vector<JobId>> groups;
  for (const JobId id : selected) {
    const model::Job& job = workload.job(id);
    groups[{workload.tasks(job) == 1, job.domain, -workload.gpu_milli(job)}].push_back(id);
  }
  for (const auto& [key, jobs] : groups) local_search::fill_idle_capacity(occupancy, jobs, stop);
}

/// Share of the value that the local search may be expected to win. Chosen, not tuned.
constexpr double kSearchGain = 0.005;

/// Fills what is left and improves the result, unless it is far below the best one; keeps it as the
/// best one if it is better.
void finish(Occupancy after, const PricedPools& pools, const SearchEffort& effort,
            const StopToken& stop, Occupancy& best) {
  local_search::fill_idle_capacity(after, after.unplaced_jobs(), stop);
  if (whole_score(after).second < (1.0 - kSearchGain) * whole_score(best).second) return;
  improve(after, pools, effort, stop);
  if (whole_score(after) > whole_score(best)) best = std::move(after);
}

}  // namespace

double plan_selected(const planner_model::Valuation& valuation,
                     const planner_model::CouplingLimits* limits, const PricedPools& pools,
                     std::span<const JobId> selected, SelectedPlacement how,
                     const DiveOptions& options, model::Placement& placement,
                     const StopToken& stop) {
  const Occupancy empty = without_placements(valuation, limits);
  Occupancy best = empty;
  for (const model::JobPlacement& placed : placement) best.take(placed);
  const auto before = whole_score(best);
  Occupancy filled = empty;
  fill_by_domain(filled, selected, stop);
  finish(std::move(filled), pools, options.effort, stop, best);
  if (how == SelectedPlacement::fill_and_dive) {
    Occupancy dived = empty;
    dive(dived, pools, selected, options, stop);
    finish(std::move(dived), pools, options.effort, stop, best);
  }
  if (whole_score(best) <= before) return 0.0;
  placement = best.placement();
  return whole_score(best).second - before.second;
}

}  // namespace berth::solver
