// SPDX-License-Identifier: Apache-2.0
#include "inventories.hpp"
#include "traces/trace_cells.hpp"
#include "unique_names.hpp"
#include "words.hpp"

#include "berth/io/file.hpp"
#include "berth/io/import_inventory.hpp"

namespace berth::io {

/// Machines of Philly: cluster_machine_list (machineId, number of GPUs, single GPU mem, which names
/// the type: the trace has no other) or the list derived from the utilisation log (machineId,
/// number of GPUs). Blanks follow the commas of the first.
model::Cluster import_philly_machines(const std::string& path) {
  const std::string text = read_file(path);
  Csv csv(text, path);
  // The header has blanks after its commas, or not.
  const auto column = [&](const char* name) {
    const auto found = csv.find(name);
    return found ? found : csv.find(std::string(" ") + name);
  };
  const auto name = csv.need("machineId");
  const auto gpus = column("number of GPUs");
  const auto memory = column("single GPU mem");
  if (!gpus) (void)csv.need("number of GPUs");
  UniqueNames names;
  std::vector<InventoryMachine> machines;
  while (csv.next()) {
    names.add(csv, name);
    InventoryMachine machine{.name = csv.name(name), .gpu_type = "GPU", .amounts = {}};
    machine.amounts.gpus =
        static_cast<std::int32_t>(count_of(csv, *gpus, model::kMaxGpusPerMachine));
    if (memory && !trimmed(csv.cell(*memory)).empty()) {
      machine.gpu_type = "GPU-" + std::string(trimmed(csv.cell(*memory)));
    }
    machines.push_back(std::move(machine));
  }
  return cluster_of_inventory(machines, csv);
}

}  // namespace berth::io
