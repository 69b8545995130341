// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/pending_jobs.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace berth::io::slurm {

/// The sets that distinguish machines of one type, those with most GPUs requested first.
std::vector<std::int32_t> sets_by_demand(const std::vector<PendingJob>& waiting,
                                         const NodeConstraints& constraints,
                                         const ImportedMachines& machines);

/// GPU types that a waiting job may have, by their names in the cluster.
class TypeLists {
 public:
  TypeLists(const ImportedMachines& machines, const NodeConstraints& constraints,
            const TypeNames& types)
      : machines_(machines), constraints_(constraints), types_(types) {}

  struct List {
    std::vector<std::string> names;  ///< empty: any
    std::string why;                 ///< not empty: why the job is not planned
  };
  /// O(machines) once for each pair of set and type. The reference stays valid.
  const List& of(const PendingJob& waiting);

 private:
  [[nodiscard]] List anywhere(const std::string& type) const;
  [[nodiscard]] List in_set(const std::vector<bool>& set, const std::string& type, bool gpus) const;

  const ImportedMachines& machines_;
  const NodeConstraints& constraints_;
  const TypeNames& types_;
  std::map<std::tuple<std::int32_t, std::string, bool>, List> known_;
};

}  // namespace berth::io::slurm
