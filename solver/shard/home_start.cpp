// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/home_start.hpp"

#include "shard/whole_start.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::solver {
namespace {

using model::Level;

using MachinesOfRacks = std::map<std::pair<GpuTypeId, RackId>, std::span<const MachineId>>;

MachinesOfRacks machines_of_racks(const Occupancy& occupancy) {
  const model::Cluster& cluster = occupancy.valuation().instance().cluster;
  MachinesOfRacks machines;
  for (const GpuTypeId type : occupancy.index().types()) {
    for (const Domain& rack : occupancy.index().domains(type, Level::rack)) {
      machines[{type, cluster.machine_rack[rack.machines.front().index()]}] = rack.machines;
    }
  }
  return machines;
}

/// Places jobs in their home racks, large ones first.
void place_at_home(Occupancy& occupancy, std::vector<HomeChoice> chosen) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  const MachinesOfRacks racks = machines_of_racks(occupancy);
  std::ranges::sort(chosen, {}, [&](const HomeChoice& c) {
    const model::Job& job = workload.job(c.job);
    return std::tuple(job.home_rack, c.type, -workload.gpu_milli(job), c.job);
  });
  for (const HomeChoice& c : chosen) {
    const auto surcharge = occupancy.limit_usage().surcharge(c.job);
    if (!surcharge || *surcharge > occupancy.valuation().best(c.job)) continue;
    const auto rack = racks.find({c.type, workload.job(c.job).home_rack});
    if (rack == racks.end()) continue;
    if (auto placement = occupancy.fit(c.job, rack->second)) occupancy.take(std::move(*placement));
  }
}

}  // namespace

double plan_at_home(const planner_model::Valuation& valuation, const PricedPools& pools,
                    std::span<const HomeChoice> chosen, const SearchEffort& effort,
                    const RunContext& run, model::Placement& placement) {
  Occupancy start = without_placements(valuation, run.limits);
  BestStart best(start, placement);
  place_at_home(start, {chosen.begin(), chosen.end()});
  best.offer(std::move(start), pools, effort, run.stop);
  return best.write(placement);
}

}  // namespace berth::solver
