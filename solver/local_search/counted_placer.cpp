// SPDX-License-Identifier: Apache-2.0
#include "local_search/counted_placer.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace berth::solver::local_search {
namespace {

/// Machines whose content has changed since the mark, or will when these are freed; ascending.
std::vector<MachineId> changed_machines(const Occupancy& state, Occupancy::Mark mark,
                                        std::vector<MachineId> freed) {
  for (const Occupancy::Change& change : state.changes_since(mark)) {
    const auto& tasks = change.left.empty() ? state.placed(change.job).tasks : change.left;
    for (const model::TaskPlacement& task : tasks) freed.push_back(task.machine);
  }
  std::ranges::sort(freed);
  freed.erase(std::unique(freed.begin(), freed.end()), freed.end());
  return freed;
}

}  // namespace

OptionPlacer counted_placer(const Occupancy& state, Occupancy::Mark mark, FreeTaskCounts& counts,
                            std::vector<MachineId> freed) {
  const model::WorkloadView& workload = state.valuation().instance().workload;
  const auto grown = std::make_shared<const std::vector<MachineId>>(std::move(freed));
  const auto domains = [&workload, &counts, grown](JobId job, GpuTypeId type,
                                                   std::span<const Domain> list) {
    return counts.holders(workload.job(job), type, list, *grown);
  };
  const auto machines = [&state, &counts, mark, grown](JobId job, GpuTypeId type,
                                                       const Domain& domain) {
    return counts.roomy_machines(job, type, domain, changed_machines(state, mark, *grown));
  };
  return {.holders = domains, .roomy = machines};
}

}  // namespace berth::solver::local_search
