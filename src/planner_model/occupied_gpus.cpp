// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/occupied_gpus.hpp"

#include <algorithm>
#include <optional>

namespace berth::planner_model {
namespace {

/// Tasks of the shape that an empty machine of the class holds, at most `most`.
std::int64_t tasks_on(const model::MachineClass& c, const model::Shape& shape, std::int64_t most) {
  std::int64_t tasks = most;
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (shape.needs[r] > 0) tasks = std::min(tasks, c.capacity[r] / shape.needs[r]);
  }
  const std::int64_t each = shape.gpus > 0 ? c.gpus / shape.gpus
                                           : c.gpus * (model::kGpuMilli / shape.total_milli());
  return std::min(tasks, each);
}

/// Fewest empty machines of the class that hold the job's GPU tasks; empty: none holds one of them.
std::optional<std::int64_t> machines_for(const model::WorkloadView& workload, const model::Job& job,
                                         const model::MachineClass& c) {
  const std::int64_t most = workload.rules_of(job).max_tasks.front();
  std::int64_t machines = 0;
  for (const model::TaskGroup& group : workload.groups_of(job)) {
    const model::Shape& shape = workload.shape(group.shape);
    if (!shape.uses_gpu()) continue;
    const std::int64_t each = tasks_on(c, shape, most);
    if (each == 0) return std::nullopt;
    machines = std::max(machines, (group.count + each - 1) / each);
  }
  return machines;
}

}  // namespace

OccupiedGpus occupied_gpus(const model::InstanceView& instance, const model::Job& job) {
  const model::WorkloadView& workload = instance.workload;
  OccupiedGpus least{.milli = workload.gpu_milli(job)};
  if (!workload.rules_of(job).exclusive || least.milli == 0) return least;
  std::optional<OccupiedGpus> whole;
  bool alike = true;
  for (const model::MachineClass& c : instance.cluster.classes) {
    const auto machines = c.gpus > 0 ? machines_for(workload, job, c) : std::nullopt;
    if (!machines) continue;
    const OccupiedGpus here{*machines * c.gpus * model::kGpuMilli, *machines, c.gpus};
    alike = alike && (!whole || (whole->machines == here.machines &&
                                 whole->per_machine == here.per_machine));
    if (!whole || here.milli < whole->milli) whole = here;
  }
  if (!whole) return least;
  least.milli = std::max(least.milli, whole->milli);
  if (alike) least = {least.milli, whole->machines, whole->per_machine};
  return least;
}

}  // namespace berth::planner_model
