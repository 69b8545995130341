// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "id_range.hpp"
#include "words.hpp"
#include "yaml_fields.hpp"

#include <string_view>
#include <unordered_map>

#include "berth/model/cluster.hpp"

namespace berth::io {

/// Machines of a cluster by name. The name of a rack or a pod stands for all its machines, unless a
/// machine has the name, or a rack has the name of the pod.
class MachineNames {
 public:
  explicit MachineNames(const model::Cluster& cluster);  ///< which must outlive it

  /// Calls visit(YamlAt, MachineRange) for the machines of each name in a name, a range of names,
  /// or a list of both. @throws InputError about unknown names
  template <class Visit>
  void each(const YamlAt& ids, const Visit& visit) const {
    if (ids.node().is_list()) {
      ids.each([&](const YamlAt& some) { each_of_range(some, visit); });
    } else {
      each_of_range(ids, visit);
    }
  }

 private:
  template <class Visit>
  void each_of_range(const YamlAt& ids, const Visit& visit) const {
    const auto [range, fault] = parse_id_range(ids.name());
    if (!fault.empty()) ids.fail(fault);
    if (range.count() > cluster_->machines()) ids.fail("more machines than the cluster has");
    for_each_id(range, [&](std::string_view name) {
      const auto found = index_.find(name);
      if (found == index_.end()) {
        ids.fail("unknown machine " + in_quotes(name),
                 "machines, racks and pods are named under pods");
      }
      visit(ids, found->second);
    });
  }

  const model::Cluster* cluster_;
  std::unordered_map<std::string_view, model::MachineRange> index_;
};

}  // namespace berth::io
