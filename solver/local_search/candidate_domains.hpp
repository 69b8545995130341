// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "occupancy/search_state.hpp"

#include <algorithm>
#include <vector>

#include "berth/planner_model/option_enumerator.hpp"

namespace berth::solver::local_search {

/// Largest distance of the domain's machines from the job's home.
model::Level distance_of(const model::Cluster& cluster, const model::Job& job,
                         const Domain& domain);

/// GPU types of the occupancy that the job allows; the invalid type (every machine) for a CPU-only
/// job without a list of types.
std::vector<GpuTypeId> candidate_types(const DomainIndex& index,
                                       const model::WorkloadView& workload, const model::Job& job);

/// True when room for equal tasks is the same for all jobs: no limits of racks and pods, no spare
/// GPUs.
inline bool depends_on_tasks_alone(const planner_model::LimitUsage& usage) {
  return usage.limits() == nullptr || !usage.limits()->of_places();
}

/// True for a job on one machine.
inline bool is_single(const model::WorkloadView& workload, const model::Job& job) {
  return workload.tasks(job) == 1 || job.domain == model::Level::machine;
}

/// Calls visit(type, level) for the lists of domains where the job may be placed: racks for a job
/// on one machine, every level up to `limit` for a gang.
void for_each_candidate_list(const SearchState auto& state, JobId id, model::Level limit,
                             auto visit) {
  const model::WorkloadView& workload = state.valuation().instance().workload;
  const model::Job& job = workload.job(id);
  const model::Level widest =
      is_single(workload, job) ? model::Level::rack : std::min(limit, job.domain);
  for (const GpuTypeId type : candidate_types(state.index(), workload, job)) {
    for (const model::Level level :
         {model::Level::rack, model::Level::pod, model::Level::cluster}) {
      if (level <= widest) visit(type, level);
    }
  }
}

/// Calls visit(type, domain, value) for the domains of these lists.
void for_each_candidate_domain(const SearchState auto& state, JobId id, model::Level limit,
                               auto visit) {
  const model::InstanceView& instance = state.valuation().instance();
  const model::Job& job = instance.workload.job(id);
  const bool single = is_single(instance.workload, job);
  const planner_model::OptionEnumerator options(state.valuation(), id);
  for_each_candidate_list(state, id, limit, [&](GpuTypeId type, model::Level level) {
    for (const Domain& domain : state.index().domains(type, level)) {
      const model::Level distance = distance_of(instance.cluster, job, domain);
      const model::Level width = single ? model::Level::machine : level;
      visit(type, domain, options.value_at(type, width, distance));
    }
  });
}

}  // namespace berth::solver::local_search
