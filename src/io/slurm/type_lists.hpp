// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/pending_jobs.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace berth::io::slurm {

/// The sets that tell machines of one type apart, those with most GPUs asked for first.
std::vector<std::int32_t> sets_by_demand(const std::vector<PendingJob>& waiting,
                                         const NodeConstraints& constraints,
                                         const ImportedMachines& machines);

/// GPU types that a waiting job may have, by the names they have in the cluster.
class TypeLists {
 public:
  TypeLists(const ImportedMachines& machines, const NodeConstraints& constraints,
            const TypeNames& types)
      : machines_(machines), constraints_(constraints), types_(types) {}

  struct List {
    std::vector<std::string> names;  ///< empty: any
    std::string why;                 ///< not empty: the job stays with Slurm
  };
  /// O(machines) once for each set and type asked for. The reference lasts.
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
