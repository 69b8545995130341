// SPDX-License-Identifier: Apache-2.0
#include "inventories.hpp"
#include "unique_names.hpp"
#include "words.hpp"

#include "berth/io/file.hpp"
#include "berth/io/import_inventory.hpp"

namespace berth::io {

/// Machines of Alibaba PAI 2020, pai_machine_spec.csv, without header: machine, gpu_type (MISC:
/// undisclosed; CPU: none), cap_cpu (cores), cap_mem (GiB), cap_gpu.
model::Cluster import_pai_machines(const std::string& path) {
  constexpr std::int64_t kMibPerGib = 1024;
  const std::string text = read_file(path);
  Csv csv(text, path, {.header = {"machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu"}});
  const auto name = csv.need("machine");
  const auto type = csv.need("gpu_type");
  const auto cores = csv.need("cap_cpu");
  const auto memory = csv.need("cap_mem");
  const auto gpus = csv.need("cap_gpu");
  UniqueNames names;
  std::vector<InventoryMachine> machines;
  while (csv.next()) {
    names.add(csv, name);
    InventoryMachine machine{.name = csv.name(name), .gpu_type = csv.name(type), .amounts = {}};
    machine.amounts.gpus = static_cast<std::int32_t>(csv.integer(gpus, model::kMaxGpusPerMachine));
    machine.amounts.capacity[model::kCpu] = 1000 * csv.integer(cores, kMaxCount);
    machine.amounts.capacity[model::kMemory] = kMibPerGib * csv.integer(memory, kMaxCount);
    machines.push_back(std::move(machine));
  }
  return cluster_of_inventory(machines, csv);
}

}  // namespace berth::io
