// SPDX-License-Identifier: Apache-2.0
#include "machine_classes.hpp"
#include "words.hpp"

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/io/import_trace.hpp"

namespace berth::io {

model::Cluster equal_machines(const EqualMachines& options) {
  const auto refuse = [](const char* field, const char* problem) {
    throw InputError({.file = "", .line = 0, .field = field}, problem);
  };
  if (options.machines < 0 || options.machines > kMaxCount) {
    refuse("machines", "must be 0 .. 1000000");
  }
  if (options.gpus < 0 || options.gpus > model::kMaxGpusPerMachine) {
    refuse("gpus-per-machine", "must be 0 .. 64");
  }
  if (options.per_rack < 1) refuse("machines-per-rack", "must be 1 or more");
  if (options.cpu_milli < 0 || options.cpu_milli > kMaxAmount) {
    refuse("cpu-milli", "must be 0 .. 2^40");
  }
  if (options.memory_mib < 0 || options.memory_mib > kMaxAmount) {
    refuse("memory-mib", "must be 0 .. 2^40");
  }
  if (const std::string fault = name_fault(options.gpu_type); !fault.empty()) {
    refuse("gpu-type", fault.c_str());
  }
  model::Cluster cluster;
  if (options.machines == 0) return cluster;
  model::MachineClass amounts;
  amounts.gpus = static_cast<std::int32_t>(options.gpus);
  amounts.capacity = model::machine_capacity({options.cpu_milli, options.memory_mib});
  MachineClasses classes(cluster);
  const ClassId machine_class = classes.of(options.gpus > 0 ? options.gpu_type : "", amounts);
  cluster.pods.push_back({.name = "pod-0"});
  for (std::int64_t m = 0; m < options.machines; ++m) {
    if (m % options.per_rack == 0) {
      cluster.racks.push_back({fmt::format("rack-{}", cluster.racks.size()), PodId(0)});
    }
    cluster.machine_names.add(fmt::format("m{:04}", m));
    cluster.machine_class.push_back(machine_class);
    cluster.machine_rack.emplace_back(cluster.racks.size() - 1);
  }
  return cluster;
}

}  // namespace berth::io
