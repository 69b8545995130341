// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/domain_index.hpp"

#include <algorithm>

namespace berth::solver {

using model::Level;

namespace {

/// Appends the machine to the last domain while `same` holds, else opens a new one.
void append(std::vector<Domain>& domains, Level level, MachineId m, auto same) {
  if (domains.empty() || !same(domains.back().machines.back(), m)) domains.push_back({level, {}});
  domains.back().machines.push_back(m);
}

}  // namespace

DomainIndex::DomainIndex(const model::Cluster& cluster, std::span<const MachineId> machines) {
  const auto same_rack = [&](MachineId a, MachineId b) {
    return cluster.machine_rack[a.index()] == cluster.machine_rack[b.index()];
  };
  const auto same_pod = [&](MachineId a, MachineId b) {
    return cluster.pod_of(a) == cluster.pod_of(b);
  };
  for (const MachineId m : machines) {
    const GpuTypeId of_machine = cluster.class_of(m).gpu_type;
    for (const GpuTypeId type : {GpuTypeId{}, of_machine}) {
      append(domains_[{type, Level::rack}], Level::rack, m, same_rack);
      append(domains_[{type, Level::pod}], Level::pod, m, same_pod);
      append(domains_[{type, Level::cluster}], Level::cluster, m, [](auto, auto) { return true; });
      if (!of_machine.valid()) break;
    }
    if (of_machine.valid() && std::ranges::find(types_, of_machine) == types_.end())
      types_.push_back(of_machine);
  }
  std::ranges::sort(types_);
}

std::span<const Domain> DomainIndex::domains(GpuTypeId type, Level level) const {
  const auto found = domains_.find({type, level});
  if (found == domains_.end()) return {};
  return found->second;
}

}  // namespace berth::solver
