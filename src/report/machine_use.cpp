// SPDX-License-Identifier: Apache-2.0
#include "machine_use.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace berth::report {
namespace {

std::int64_t milli(const model::TaskPlacement& task) {
  return std::int64_t{task.milli} * std::popcount(task.devices);
}

/// The use of one machine with the tasks of the placement that are on it.
MachineUse use_of(const model::Cluster& cluster, MachineId m,
                  std::span<const model::TaskPlacement* const> tasks) {
  const int gpus = cluster.class_of(m).gpus;
  MachineUse use{.machines = 1, .gpus = gpus};
  std::uint64_t taken = 0;
  for (const model::Immovable& content : cluster.immovable_on(m)) {
    use.pinned += std::int64_t{content.milli} * std::popcount(content.devices);
    taken |= content.devices;
  }
  for (const model::TaskPlacement* task : tasks) {
    use.planned += milli(*task);
    taken |= task->devices;
  }
  if (cluster.state_of(m) != model::MachineState::up) {
    use.closed = std::int64_t{1000} * gpus - use.pinned - use.planned;
  } else {
    use.whole = gpus - std::popcount(taken);
  }
  return use;
}

}  // namespace

std::vector<MachineUse> machine_uses(const PlanContent& content) {
  const model::Cluster& cluster = content.instance.cluster;
  std::vector<const model::TaskPlacement*> tasks;
  for (const model::JobPlacement& placed : content.placement) {
    for (const model::TaskPlacement& task : placed.tasks) tasks.push_back(&task);
  }
  std::ranges::stable_sort(tasks, {}, [](const auto* task) { return task->machine; });
  std::vector<MachineUse> result;
  std::size_t first = 0;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    std::size_t end = first;
    while (end < tasks.size() && tasks[end]->machine == MachineId(m)) ++end;
    result.push_back(use_of(cluster, MachineId(m), std::span(tasks).subspan(first, end - first)));
    first = end;
  }
  return result;
}

}  // namespace berth::report
