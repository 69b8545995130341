// SPDX-License-Identifier: Apache-2.0
#include "machine_classes.hpp"
#include "openb_tables.hpp"
#include "unique_names.hpp"
#include "words.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace berth::io {
namespace {

using model::Cluster;

struct MachineRow {
  std::string name;
  ClassId machine_class;
};

std::vector<MachineRow> read_machines(Csv csv, const ImportOptions& options, Cluster& cluster) {
  const auto name = csv.need("sn");
  const auto cpu = csv.need("cpu_milli");
  const auto memory = csv.need("memory_mib");
  const auto gpus = csv.need("gpu");
  const auto type = csv.need("model");
  MachineClasses classes(cluster);
  std::vector<MachineRow> machines;
  UniqueNames names;
  while (csv.next()) {
    names.add(csv, name);
    check_copies(csv, name, options);
    if (csv.cell(name).find_first_of("[]") != std::string::npos) {
      csv.fail(name.name, "a machine name with brackets: " + in_quotes(csv.cell(name)));
    }
    model::MachineClass amounts;
    amounts.gpus = static_cast<std::int32_t>(csv.integer(gpus, model::kMaxGpusPerMachine));
    amounts.capacity[model::kCpu] = csv.integer(cpu, kMaxAmount);
    amounts.capacity[model::kMemory] = csv.integer(memory, kMaxAmount);
    const std::string model_name = amounts.gpus > 0 ? csv.name(type) : std::string();
    if (amounts.gpus > 0 && !classes.gpu_type(model_name).valid()) {
      csv.fail(type.name, "more than 64 GPU types");
    }
    machines.push_back({csv.cell(name), classes.of(model_name, amounts)});
  }
  return machines;
}

/// One pod, one rack per class; within a rack copy by copy, each in file order.
void lay_out(std::vector<MachineRow> machines, const ImportOptions& options, Cluster& cluster) {
  if (machines.empty()) return;
  cluster.pods.push_back({"pod-0"});
  for (const model::MachineClass& c : cluster.classes) {
    cluster.racks.push_back({"rack-" + c.name, PodId(0)});
  }
  std::ranges::stable_sort(machines, {}, &MachineRow::machine_class);
  for (auto rack = machines.begin(); rack != machines.end();) {
    const ClassId id = rack->machine_class;
    const auto end = std::find_if(rack, machines.end(),
                                  [&](const MachineRow& m) { return m.machine_class != id; });
    for (std::int64_t copy = 0; copy < options.replicate; ++copy) {
      for (auto m = rack; m != end; ++m) {
        cluster.machine_names.add(copy_name(m->name, copy, options));
        cluster.machine_class.push_back(id);
        cluster.machine_rack.emplace_back(id.index());
      }
    }
    rack = end;
  }
}

}  // namespace

std::string copy_name(const std::string& name, std::int64_t copy, const ImportOptions& options) {
  return options.replicate == 1 ? name : fmt::format("{}.{}", name, copy);
}

void check_copies(const Csv& csv, const Csv::Column& name, const ImportOptions& options) {
  const std::string longest = copy_name(csv.cell(name), options.replicate - 1, options);
  if (const std::string fault = name_fault(longest); !fault.empty()) csv.fail(name.name, fault);
}

model::Cluster read_openb_machines(Csv csv, const ImportOptions& options) {
  Cluster cluster;
  lay_out(read_machines(std::move(csv), options, cluster), options, cluster);
  return cluster;
}

}  // namespace berth::io
