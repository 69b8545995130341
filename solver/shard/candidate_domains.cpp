// SPDX-License-Identifier: Apache-2.0
#include "shard/candidate_domains.hpp"

namespace berth::solver {

using model::Level;

namespace {

bool allowed(const model::Job& job, GpuTypeId type) {
  return !type.valid() || ((job.gpu_types >> type.index()) & 1) != 0;
}

}  // namespace

Level distance_of(const model::Cluster& cluster, const model::Job& job, const Domain& domain) {
  if (!job.home_rack.valid() && !job.home_pod.valid()) return Level::machine;
  const PodId home = job.home_pod.valid() ? job.home_pod : cluster.racks[job.home_rack.index()].pod;
  Level farthest = Level::machine;
  for (const MachineId m : {domain.machines.front(), domain.machines.back()}) {
    const RackId rack = cluster.machine_rack[m.index()];
    const bool same_pod = cluster.racks[rack.index()].pod == home;
    farthest = std::max(farthest, rack == job.home_rack ? Level::rack
                                  : same_pod            ? Level::pod
                                                        : Level::cluster);
  }
  return farthest;
}

std::vector<GpuTypeId> candidate_types(const Occupancy& occupancy, const model::Job& job) {
  const model::Workload& workload = occupancy.valuation().instance().workload;
  if (workload.gpu_milli(job) == 0 && job.gpu_types == ~std::uint64_t{0}) return {GpuTypeId{}};
  std::vector<GpuTypeId> types;
  for (const GpuTypeId type : occupancy.index().types()) {
    if (allowed(job, type)) types.push_back(type);
  }
  return types;
}

}  // namespace berth::solver
