// SPDX-License-Identifier: Apache-2.0
#include "inventories.hpp"

#include "machine_classes.hpp"

#include <algorithm>
#include <utility>

namespace berth::io {

model::Cluster cluster_of_inventory(const std::vector<InventoryMachine>& machines, const Csv& csv) {
  model::Cluster cluster;
  if (machines.empty()) return cluster;
  MachineClasses classes(cluster);
  std::vector<std::pair<ClassId, std::size_t>> order;  // class and position in the list
  for (std::size_t m = 0; m < machines.size(); ++m) {
    const std::string type = machines[m].amounts.gpus > 0 ? machines[m].gpu_type : std::string();
    if (!type.empty() && !classes.gpu_type(type).valid()) csv.fail("", "more than 64 GPU types");
    order.emplace_back(classes.of(type, machines[m].amounts), m);
  }
  cluster.pods.push_back({.name = "pod-0"});
  for (const model::MachineClass& c : cluster.classes) {
    cluster.racks.push_back({"rack-" + c.name, PodId(0)});
  }
  std::ranges::sort(order);
  for (const auto& [machine_class, m] : order) {
    cluster.machine_names.add(machines[m].name);
    cluster.machine_class.push_back(machine_class);
    cluster.machine_rack.emplace_back(machine_class.index());
  }
  return cluster;
}

}  // namespace berth::io
