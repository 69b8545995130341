// SPDX-License-Identifier: Apache-2.0
#include "local_search/counted_placer.hpp"

#include "local_search/machines_of.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace berth::solver::local_search {
namespace {

/// Machines whose content has changed since a mark, or will when some are freed.
class ChangedMachines {
 public:
  ChangedMachines(const Occupancy& state, Occupancy::Mark mark, std::vector<MachineId> freed)
      : state_(state), mark_(mark), machines_(std::move(freed)) {}

  /// Ascending. Looks at the changes since the last call only.
  std::span<const MachineId> now() {
    const auto all = state_.changes_since(mark_);
    std::vector<MachineId> fresh =
        machines_of_changes(state_, all.subspan(std::exchange(seen_, all.size())));
    std::erase_if(fresh, [&](MachineId m) { return std::ranges::binary_search(machines_, m); });
    const auto before = std::ssize(machines_);
    machines_.insert(machines_.end(), fresh.begin(), fresh.end());
    std::inplace_merge(machines_.begin(), machines_.begin() + before, machines_.end());
    return machines_;
  }

 private:
  const Occupancy& state_;
  Occupancy::Mark mark_;
  std::size_t seen_ = 0;  ///< changes since the mark
  std::vector<MachineId> machines_;
};

}  // namespace

OptionPlacer counted_placer(const Occupancy& state, Occupancy::Mark mark, FreeTaskCounts& counts,
                            std::vector<MachineId> freed) {
  const model::WorkloadView& workload = state.valuation().instance().workload;
  const auto grown = std::make_shared<const std::vector<MachineId>>(std::move(freed));
  const auto changed = std::make_shared<ChangedMachines>(state, mark, *grown);
  const auto domains = [&workload, &counts, grown](JobId job, GpuTypeId type,
                                                   std::span<const Domain> list) {
    return counts.holders(workload.job(job), type, list, *grown);
  };
  const auto machines = [&counts, changed](JobId job, GpuTypeId type, const Domain& domain) {
    return counts.roomy_machines(job, type, domain, changed->now());
  };
  return {.holders = domains, .roomy = machines};
}

}  // namespace berth::solver::local_search
