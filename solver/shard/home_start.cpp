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

bool may_be_placed(const Occupancy& occupancy, JobId job) {
  const auto surcharge = occupancy.limit_usage().surcharge(job);
  return surcharge && *surcharge <= occupancy.valuation().best(job);
}

/// GPU thousandths of the largest task.
std::int64_t largest_task(const model::WorkloadView& workload, JobId id) {
  std::int64_t largest = 0;
  for (const model::TaskGroup& group : workload.groups_of(workload.job(id))) {
    largest = std::max(largest, workload.shape(group.shape).total_milli());
  }
  return largest;
}

/// Takes a place for the job on these machines, on one of them where its domain is a machine.
bool take_within(Occupancy& occupancy, JobId job, std::span<const MachineId> machines) {
  const bool one = occupancy.valuation().instance().workload.job(job).domain == Level::machine;
  const std::size_t width = one ? 1 : machines.size();
  for (std::size_t i = 0; i < machines.size(); i += width) {
    if (auto placement = occupancy.fit(job, machines.subspan(i, width))) {
      occupancy.take(std::move(*placement));
      return true;
    }
  }
  return false;
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
    if (!may_be_placed(occupancy, c.job)) continue;
    const auto rack = racks.find({c.type, workload.job(c.job).home_rack});
    if (rack == racks.end()) continue;
    take_within(occupancy, c.job, rack->second);
  }
}

/// Places a job in its pod, or in any, in the first domain that its own allows.
void place_in_pod(Occupancy& occupancy, const HomeChoice& choice) {
  const auto& instance = occupancy.valuation().instance();
  const Level widest = choice.pod.valid() ? Level::pod : Level::cluster;
  const Level level = std::clamp(instance.workload.job(choice.job).domain, Level::rack, widest);
  for (const Domain& domain : occupancy.index().domains(choice.type, level)) {
    if (choice.pod.valid() && instance.cluster.pod_of(domain.machines.front()) != choice.pod)
      continue;
    if (take_within(occupancy, choice.job, domain.machines)) return;
  }
}

/// Places jobs in their pods, then those for any pod; of each those of large tasks first.
void place_elsewhere(Occupancy& occupancy, std::vector<HomeChoice> chosen) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  std::ranges::sort(chosen, {}, [&](const HomeChoice& c) {
    return std::tuple(!c.pod.valid(), c.type, c.pod, -largest_task(workload, c.job),
                      -workload.gpu_milli(workload.job(c.job)), c.job);
  });
  for (const HomeChoice& c : chosen) {
    if (!may_be_placed(occupancy, c.job)) continue;
    place_in_pod(occupancy, c);
  }
}

}  // namespace

double plan_at_home(const planner_model::Valuation& valuation, const PricedPools& pools,
                    const HomeRackSolution& chosen, const SearchEffort& effort,
                    const RunContext& run, model::Placement& placement) {
  Occupancy start = without_placements(valuation, run.limits);
  BestStart best(start, placement);
  place_at_home(start, chosen.at_home);
  place_elsewhere(start, chosen.elsewhere);
  best.offer(std::move(start), pools, effort, run.stop);
  return best.write(placement);
}

}  // namespace berth::solver
