// SPDX-License-Identifier: Apache-2.0
#include "from_instance.hpp"

#include "berth/planner_model/value.hpp"

namespace berth::peers {

using model::Level;

// Racks here are one machine each, so machine m is rack m.
Graph compact_graph(const model::Instance& instance) {
  const model::Cluster& cluster = instance.cluster;
  const model::Workload& workload = instance.workload;
  const planner_model::Valuation value(instance, model::Objective::value);
  Graph g;
  g.hubs = static_cast<std::int32_t>(cluster.gpu_types.size());
  std::vector<std::vector<std::size_t>> racks_of_pod(cluster.pods.size());
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    g.rack_gpus.push_back(cluster.class_of(MachineId(m)).gpus);
    racks_of_pod[cluster.pod_of(MachineId(m)).index()].push_back(m);
  }
  for (const model::Job& job : workload.jobs) {
    g.job_gpus.push_back(workload.gpu_milli(job) / model::kGpuMilli);
  }
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const JobId id(j);
    const RackId home = workload.job(id).home_rack;
    const auto from = static_cast<std::int32_t>(j);
    const auto per_gpu = [&](GpuTypeId type, Level distance) {
      return value.option(id, type, Level::machine, distance) / static_cast<double>(g.job_gpus[j]);
    };
    for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
      g.arcs.push_back({from, g.hub(t), per_gpu(GpuTypeId(t), Level::cluster)});
    }
    for (const std::size_t m : racks_of_pod[cluster.racks[home.index()].pod.index()]) {
      const bool at_home = cluster.machine_rack[m] == home;
      const GpuTypeId type = cluster.class_of(MachineId(m)).gpu_type;
      g.arcs.push_back({from, g.rack(m), per_gpu(type, at_home ? Level::rack : Level::pod)});
    }
  }
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const GpuTypeId type = cluster.class_of(MachineId(m)).gpu_type;
    g.arcs.push_back({g.hub(type.index()), g.rack(m), 0.0});
  }
  return g;
}

}  // namespace berth::peers
