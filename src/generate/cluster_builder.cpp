// SPDX-License-Identifier: Apache-2.0
#include "cluster_builder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace berth::generate {

void ClusterBuilder::start_pod() {
  cluster_.pods.push_back({.name = fmt::format("p{}", cluster_.pods.size())});
  racks_in_pod_ = 0;
}

void ClusterBuilder::start_rack() {
  cluster_.racks.push_back(
      {.name = fmt::format("{}-r{:02}", cluster_.pods.back().name, racks_in_pod_++),
       .pod = PodId(cluster_.pods.size() - 1)});
  machines_in_rack_ = 0;
}

void ClusterBuilder::add_machine(ClassId machine_class) {
  cluster_.machine_names.add(
      fmt::format("{}-m{:02}", cluster_.racks.back().name, machines_in_rack_++));
  cluster_.machine_class.push_back(machine_class);
  cluster_.machine_rack.push_back(RackId(cluster_.racks.size() - 1));
}

ClassId ClusterBuilder::class_id(model::MachineClass wanted) {
  const auto found = std::ranges::find(cluster_.classes, wanted.name, &model::MachineClass::name);
  if (found == cluster_.classes.end()) {
    cluster_.classes.push_back(std::move(wanted));
    return ClassId(cluster_.classes.size() - 1);
  }
  return ClassId(static_cast<std::size_t>(found - cluster_.classes.begin()));
}

GpuTypeId ClusterBuilder::gpu_type(std::string_view name) {
  const auto found = std::ranges::find(cluster_.gpu_types, name);
  const auto index = static_cast<std::size_t>(found - cluster_.gpu_types.begin());
  if (found == cluster_.gpu_types.end()) cluster_.gpu_types.emplace_back(name);
  return GpuTypeId(index);
}

}  // namespace berth::generate
