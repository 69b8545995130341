// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/priority_fill.hpp"

#include "local_search/fill_idle_capacity.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "berth/solver/occupancy.hpp"

namespace berth::solver {
namespace {

using model::JobPlacement;

/// Places the jobs where they are in `before` if there is still room and limits allow it.
void keep_places(Occupancy& occupancy, const model::Placement& before,
                 std::span<const JobId> jobs) {
  for (const JobId job : jobs) {
    const auto at = std::ranges::lower_bound(before, job, {}, &JobPlacement::job);
    if (at == before.end() || at->job != job) continue;
    const planner_model::LimitUsage& usage = occupancy.limit_usage();
    if (!occupancy.is_free(*at) || !usage.surcharge(job) || !usage.carries(*at)) continue;
    occupancy.take(*at);
  }
}

std::vector<MachineId> all_machines(const model::Cluster& cluster) {
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < cluster.machines(); ++m) machines.emplace_back(m);
  return machines;
}

}  // namespace

void fill_by_priority(const planner_model::Valuation& valuation,
                      const planner_model::CouplingLimits& limits, model::Placement& placement,
                      const StopToken& stop) {
  const model::WorkloadView& workload = valuation.instance().workload;
  Occupancy occupancy(valuation, all_machines(valuation.instance().cluster), &limits);
  for (std::size_t l = 0; l < limits.size(); ++l) {
    occupancy.limit_usage().allow(l, limits.capacity(l));
  }
  const std::vector<JobId> all = model::planned_jobs(workload);
  occupancy.admit(all);
  std::vector<JobId> required;
  std::map<std::int32_t, std::vector<JobId>, std::greater<>> classes;
  for (const JobId job : all) {
    const model::Job& record = workload.job(job);
    if (record.required) required.push_back(job);
    classes[record.priority].push_back(job);
  }
  std::ranges::stable_sort(required, std::greater(),
                           [&](JobId job) { return workload.job(job).priority; });
  const auto serve = [&](std::vector<JobId> jobs) {
    std::erase_if(jobs, [&](JobId job) { return occupancy.is_placed(job); });
    keep_places(occupancy, placement, jobs);
    std::erase_if(jobs, [&](JobId job) { return occupancy.is_placed(job); });
    local_search::fill_idle_capacity(occupancy, jobs, stop);
  };
  serve(std::move(required));
  for (auto& [priority, jobs] : classes) serve(std::move(jobs));
  placement = occupancy.placement();
}

}  // namespace berth::solver
