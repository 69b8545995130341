// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/waiting.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace berth::io::slurm {

/// The sets that tell machines of one type apart, those with most GPUs asked for first.
std::vector<std::int32_t> sets_by_demand(const std::vector<Waiting>& waiting, const Wishes& wishes,
                                         const Machines& machines);

/// GPU types that a waiting job may have, by the names they have in the cluster.
class TypeLists {
 public:
  TypeLists(const Machines& machines, const Wishes& wishes, const TypeNames& types)
      : machines_(machines), wishes_(wishes), types_(types) {}

  struct List {
    std::vector<std::string> names;  ///< empty: any
    std::string why;                 ///< not empty: the job stays with Slurm
  };
  /// O(machines) once for each set and type asked for. The reference lasts.
  const List& of(const Waiting& waiting);

 private:
  [[nodiscard]] List anywhere(const std::string& type) const;
  [[nodiscard]] List in_set(const std::vector<bool>& set, const std::string& type, bool gpus) const;

  const Machines& machines_;
  const Wishes& wishes_;
  const TypeNames& types_;
  std::map<std::tuple<std::int32_t, std::string, bool>, List> known_;
};

}  // namespace berth::io::slurm
