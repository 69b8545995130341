// SPDX-License-Identifier: Apache-2.0
#include "slurm/type_lists.hpp"

#include <algorithm>
#include <functional>

namespace berth::io::slurm {
namespace {

bool has_machine_without_gpus(const std::vector<bool>& set, const ImportedMachines& machines) {
  for (std::size_t m = 0; m < set.size(); ++m) {
    if (set[m] && machines.list[m].gpus == 0) return true;
  }
  return false;
}

}  // namespace

std::vector<std::int32_t> sets_by_demand(const std::vector<PendingJob>& waiting,
                                         const NodeConstraints& constraints,
                                         const ImportedMachines& machines) {
  std::map<std::int32_t, std::int64_t> demand;
  std::map<std::int32_t, bool> beyond_gpus;
  for (const PendingJob& w : waiting) {
    if (w.constraint < 0) continue;
    if (!w.gang.uses_gpu()) {  // only machines with GPUs can be selected by GPU type
      const auto [entry, fresh] = beyond_gpus.try_emplace(w.constraint, false);
      if (fresh) entry->second = has_machine_without_gpus(constraints.set(w.constraint), machines);
      if (entry->second) continue;
    }
    std::int64_t milli = 0;
    for (const GangRequest::TaskRequest& g : w.gang.groups)
      milli += g.shape.total_milli() * g.count;
    demand[w.constraint] += milli;
    for (const std::int32_t one : constraints.alternatives(w.constraint)) demand[one] += milli;
  }
  std::vector<std::int32_t> order;
  for (const auto& [set, milli] : demand) order.push_back(set);
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::int32_t set) { return demand[set]; });
  return order;
}

const TypeLists::List& TypeLists::of(const PendingJob& waiting) {
  const bool gpus = waiting.gang.uses_gpu();
  const std::string& type = waiting.gang.gpu_type;
  const auto [entry, fresh] = known_.try_emplace({waiting.constraint, type, gpus});
  if (fresh) {
    entry->second = waiting.constraint < 0
                        ? anywhere(type)
                        : in_set(constraints_.set(waiting.constraint), type, gpus);
  }
  return entry->second;
}

TypeLists::List TypeLists::anywhere(const std::string& type) const {
  if (type.empty()) return {};
  const auto names = types_.of_type.find(type);
  if (names != types_.of_type.end()) return {.names = names->second, .why = {}};
  return {.names = {type}, .why = {}};  // no machine has it: the plan reports that
}

TypeLists::List TypeLists::in_set(const std::vector<bool>& set, const std::string& type,
                                  bool gpus) const {
  List list;
  for (std::size_t m = 0; m < set.size(); ++m) {
    const ImportedMachine& machine = machines_.list[m];
    if (!set[m] || machine.use != Use::up) continue;
    if (machine.gpus == 0 && !gpus) {
      list.why = "is tied to nodes without GPUs, but needs none itself (plan its partition alone)";
      return list;
    }
    if (machine.gpus == 0 || (!type.empty() && machine.gpu_type != type)) continue;
    if (std::ranges::find(list.names, types_.names[m]) == list.names.end()) {
      list.names.push_back(types_.names[m]);
    }
  }
  if (list.names.empty()) list.why = "fits none of the nodes planned";
  if (gpus && list.names.size() == types_.count) list.names.clear();  // any
  return list;
}

}  // namespace berth::io::slurm
