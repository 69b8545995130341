// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/model/instance.hpp"

namespace berth::solver {

/// Machines of one GPU type within one domain, ascending.
struct Domain {
  model::Level level = model::Level::cluster;
  std::vector<MachineId> machines;
};

/// Some machines by GPU type (invalid type: every machine, for CPU-only jobs) and level.
class DomainIndex {
 public:
  DomainIndex(const model::Cluster& cluster, std::span<const MachineId> machines);

  /// The racks, the pods or the cluster with machines of this type, by ascending first machine.
  [[nodiscard]] std::span<const Domain> domains(GpuTypeId type, model::Level level) const;
  [[nodiscard]] std::span<const GpuTypeId> types() const { return types_; }

 private:
  std::vector<GpuTypeId> types_;  ///< GPU types present, ascending
  std::map<std::pair<GpuTypeId, model::Level>, std::vector<Domain>> domains_;
};

}  // namespace berth::solver
