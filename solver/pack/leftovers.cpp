// SPDX-License-Identifier: Apache-2.0
#include "hand_out.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace berth::solver {
namespace {

/// Jobs alike in shape and allowed types, the best first.
using Group = std::vector<JobId>;

GpuTypeId value_type(const model::Cluster& cluster, MachineId m, const model::Shape& shape) {
  return shape.uses_gpu() ? cluster.class_of(m).gpu_type : GpuTypeId{};
}

bool allowed(const model::Cluster& cluster, MachineId m, const model::Job& job,
             const model::Shape& shape) {
  if (job.gpu_types != ~std::uint64_t{0}) {  // a list holds for CPU-only tasks as well
    const GpuTypeId has = cluster.class_of(m).gpu_type;
    if (!has.valid() || ((job.gpu_types >> has.index()) & 1) == 0) return false;
  }
  if (!shape.uses_gpu()) return true;
  const GpuTypeId type = cluster.class_of(m).gpu_type;
  return type.valid() && ((job.gpu_types >> type.index()) & 1) != 0;
}

double best_value(const model::Valuation& valuation, JobId id) {
  const model::Instance& instance = valuation.instance();
  const model::Job& job = instance.workload.job(id);
  const model::Shape& shape =
      instance.workload.shape(instance.workload.groups_of(job).front().shape);
  if (!shape.uses_gpu()) return valuation.best(id, GpuTypeId{});
  double best = 0.0;
  for (std::size_t t = 0; t < instance.cluster.gpu_types.size(); ++t) {
    if (((job.gpu_types >> t) & 1) != 0) best = std::max(best, valuation.best(id, GpuTypeId(t)));
  }
  return best;
}

std::vector<Group> group(const model::Valuation& valuation, std::span<const JobId> jobs) {
  const model::Workload& workload = valuation.instance().workload;
  std::vector<std::tuple<bool, double, std::int64_t, std::int64_t, JobId>> order;
  for (const JobId id : jobs) {
    const model::Job& job = workload.job(id);
    order.emplace_back(!job.required, -best_value(valuation, id), -std::int64_t{job.priority},
                       job.arrival, id);
  }
  std::ranges::sort(order);
  std::map<std::tuple<bool, ShapeId, std::uint64_t>, std::size_t> known;
  std::vector<Group> groups;
  for (const auto& entry : order) {
    const JobId id = std::get<JobId>(entry);
    const model::Job& job = workload.job(id);
    const auto [at, fresh] = known.try_emplace(
        {job.required, workload.groups_of(job).front().shape, job.gpu_types}, groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(id);
  }
  return groups;
}

}  // namespace

void fill_leftovers(const model::Valuation& valuation, model::Room& room,
                    std::span<const MachineId> machines, std::span<const JobId> jobs,
                    model::Placement& placed) {
  const model::Cluster& cluster = valuation.instance().cluster;
  const model::Workload& workload = valuation.instance().workload;
  for (const Group& members : group(valuation, jobs)) {
    const model::Job& first = workload.job(members.front());
    const model::Shape& shape = workload.shape(workload.groups_of(first).front().shape);
    std::vector<std::tuple<double, std::int64_t, std::int64_t, MachineId>> order;
    for (const MachineId m : machines) {
      if (!allowed(cluster, m, first, shape) || !room.fits(m, shape)) continue;
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
