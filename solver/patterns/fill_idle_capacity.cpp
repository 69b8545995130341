// SPDX-License-Identifier: Apache-2.0
#include "instantiation.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "berth/planner_model/precedence.hpp"

namespace berth::solver {
namespace {

/// Jobs with equal shape and equal allowed GPU types, by precedence.
using EqualJobs = std::vector<JobId>;

GpuTypeId value_type(const model::Cluster& cluster, MachineId m, const model::Shape& shape) {
  return shape.uses_gpu() ? cluster.class_of(m).gpu_type : GpuTypeId{};
}

std::vector<EqualJobs> group(const planner_model::Valuation& valuation,
                             std::span<const JobId> jobs) {
  const model::WorkloadView& workload = valuation.instance().workload;
  std::vector<JobId> order(jobs.begin(), jobs.end());
  planner_model::sort_by_precedence(valuation, order);
  std::map<std::tuple<bool, ShapeId, std::uint64_t>, std::size_t> known;
  std::vector<EqualJobs> groups;
  for (const JobId id : order) {
    const model::Job& job = workload.job(id);
    const auto [at, fresh] = known.try_emplace(
        {job.required, workload.groups_of(job).front().shape, job.gpu_types}, groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(id);
  }
  return groups;
}

}  // namespace

void fill_idle_capacity(const planner_model::Valuation& valuation, planner_model::Room& room,
                        std::span<const MachineId> machines, std::span<const JobId> jobs,
                        model::Placement& placed) {
  const model::Cluster& cluster = valuation.instance().cluster;
  const model::WorkloadView& workload = valuation.instance().workload;
  for (const EqualJobs& members : group(valuation, jobs)) {
    const model::Job& first = workload.job(members.front());
    const model::Shape& shape = workload.shape(workload.groups_of(first).front().shape);
    std::vector<std::tuple<double, std::int64_t, std::int64_t, MachineId>> order;
    for (const MachineId m : machines) {
      if (!model::allows(first, shape, cluster.class_of(m).gpu_type)) continue;
      if (!room.fits(m, shape)) continue;
      const double value = valuation.best(members.front(), value_type(cluster, m, shape));
      order.emplace_back(-value, room.free_milli(m), room.free_cpu(m), m);
    }
    std::ranges::sort(order);
    auto job = members.begin();
    for (const auto& entry : order) {
      const MachineId m = std::get<MachineId>(entry);
      for (; job != members.end() && room.fits(m, shape); ++job) {
        placed.push_back({.job = *job, .start = 0, .tasks = {room.take(m, 0, shape)}});
      }
      if (job == members.end()) break;
    }
  }
  std::ranges::sort(placed, {}, &model::JobPlacement::job);
}

}  // namespace berth::solver
