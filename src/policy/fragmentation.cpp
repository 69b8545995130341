// SPDX-License-Identifier: Apache-2.0
#include "fragmentation.hpp"

#include <algorithm>
#include <tuple>

namespace berth::policy {
namespace {

std::uint64_t mask_of(const Demand& demand) {
  std::uint64_t mask = 0;
  for (const GpuTypeId type : demand.types) {
    if (type.valid()) mask |= std::uint64_t{1} << type.index();
  }
  return mask;
}

/// Adds up kinds that are the same. Ascending in kind.
void merge_kinds(std::vector<TypicalTask>& tasks) {
  std::ranges::sort(tasks, {}, [](const TypicalTask& t) { return std::tie(t.shape, t.types); });
  std::size_t kept = 0;
  for (const TypicalTask& task : tasks) {
    if (kept > 0 && tasks[kept - 1].same_kind(task)) {
      tasks[kept - 1].share += task.share;
    } else {
      tasks[kept++] = task;
    }
  }
  tasks.resize(kept);
}

}  // namespace

std::vector<TypicalTask> typical_tasks(std::span<const Demand> demands,
                                       std::span<const std::int64_t> jobs) {
  std::vector<TypicalTask> tasks;
  double all = 0.0;
  for (std::size_t d = 0; d < jobs.size(); ++d) {
    if (jobs[d] == 0) continue;
    for (const DemandGroup& group : demands[d].groups) {
      const auto count = static_cast<double>(jobs[d] * group.count);
      tasks.push_back({group.shape, mask_of(demands[d]), count});
      all += count;
    }
  }
  merge_kinds(tasks);
  for (TypicalTask& task : tasks) task.share /= all;
  return tasks;
}

double fragmentation(const model::FreeMachine& machine, GpuTypeId type,
                     std::span<const TypicalTask> typical) {
  if (!type.valid() || machine.milli() == 0) return 0.0;
  const std::uint64_t bit = std::uint64_t{1} << type.index();
  double sum = 0.0;
  for (const TypicalTask& task : typical) {
    std::int64_t unusable = machine.milli();
    if (task.shape.uses_gpu() && (task.types & bit) != 0 && machine.fits(task.shape)) {
      const std::int64_t need = std::min(task.shape.total_milli(), model::kGpuMilli);
      unusable = 0;
      for (const std::int16_t free : machine.devices()) unusable += free < need ? free : 0;
    }
    sum += task.share * static_cast<double>(unusable);
  }
  return sum;
}

}  // namespace berth::policy
