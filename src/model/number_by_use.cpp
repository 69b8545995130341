// SPDX-License-Identifier: Apache-2.0
#include "berth/model/number_by_use.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::model {
namespace {

auto content(const MachineClass& c) {
  return std::tuple(c.gpu_type, c.gpus, c.capacity, c.gpu_slices);
}

/// Index of the class with this content; appends it when there is none. Clusters have tens of
/// classes, so a linear search suffices.
ClassId find_or_add(std::vector<MachineClass>& classes, MachineClass& one) {
  auto at = std::ranges::find_if(
      classes, [&](const MachineClass& known) { return content(known) == content(one); });
  if (at == classes.end()) at = classes.insert(at, std::move(one));
  return ClassId(static_cast<std::size_t>(at - classes.begin()));
}

GpuTypeId find_or_add(std::vector<std::string>& types, const std::string& name) {
  auto at = std::ranges::find(types, name);
  if (at == types.end()) at = types.insert(at, name);
  return GpuTypeId(static_cast<std::size_t>(at - types.begin()));
}

}  // namespace

void number_by_use(Cluster& cluster) {
  const std::vector<std::string> old_types = std::exchange(cluster.gpu_types, {});
  std::vector<MachineClass> old_classes = std::exchange(cluster.classes, {});
  // new number by old one; invalid: not used so far
  std::vector<ClassId> number(old_classes.size());
  for (ClassId& c : cluster.machine_class) {
    ClassId& fresh = number[c.index()];
    if (!fresh.valid()) {
      MachineClass& one = old_classes[c.index()];
      if (one.gpu_type.valid()) {
        one.gpu_type = find_or_add(cluster.gpu_types, old_types[one.gpu_type.index()]);
      }
      fresh = find_or_add(cluster.classes, one);
    }
    c = fresh;
  }
}

}  // namespace berth::model
