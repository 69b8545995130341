// SPDX-License-Identifier: Apache-2.0
#include "local_search/candidate_domains.hpp"

#include "berth/planner_model/home.hpp"

namespace berth::solver::local_search {

using model::Level;

Level distance_of(const model::Cluster& cluster, const model::Job& job, const Domain& domain) {
  const auto distance = [&](MachineId m) {
    return planner_model::distance_from_home(cluster, job, cluster.machine_rack[m.index()]);
  };
  return std::max(distance(domain.machines.front()), distance(domain.machines.back()));
}

std::vector<GpuTypeId> candidate_types(const DomainIndex& index,
                                       const model::WorkloadView& workload, const model::Job& job) {
  if (workload.gpu_milli(job) == 0 && job.gpu_types == ~std::uint64_t{0}) return {GpuTypeId{}};
  std::vector<GpuTypeId> types;
  for (const GpuTypeId type : index.types()) {
    if (planner_model::allows(job, type)) types.push_back(type);
  }
  return types;
}

}  // namespace berth::solver::local_search
