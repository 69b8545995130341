// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"
#include "job_line.hpp"
#include "job_tables.hpp"
#include "machine_classes.hpp"
#include "once.hpp"
#include "words.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/io/file.hpp"
#include "berth/io/import.hpp"

namespace berth::io {
namespace {

using model::Cluster;
using model::kGpuMilli;

struct Machine {
  std::string name;
  ClassId machine_class;
};

std::vector<Machine> read_machines(Csv csv, Cluster& cluster) {
  const auto name = csv.need("sn");
  const auto cpu = csv.need("cpu_milli");
  const auto memory = csv.need("memory_mib");
  const auto gpus = csv.need("gpu");
  const auto type = csv.need("model");
  MachineClasses classes(cluster);
  std::vector<Machine> machines;
  Once names;
  while (csv.next()) {
    names.add(csv, name);
    if (csv.cell(name).find_first_of("[]") != std::string::npos) {
      csv.fail(name.name, "a machine name with brackets: " + in_quotes(csv.cell(name)));
    }
    model::MachineClass amounts;
    amounts.gpus = static_cast<std::int32_t>(csv.integer(gpus, model::kMaxGpusPerMachine));
    amounts.cpu_milli = csv.integer(cpu, kMaxAmount);
    amounts.memory_mib = csv.integer(memory, kMaxAmount);
    const std::string model_name = amounts.gpus > 0 ? csv.name(type) : std::string();
    if (amounts.gpus > 0 && !classes.gpu_type(model_name).valid()) {
      csv.fail(type.name, "more than 64 GPU types");
    }
    machines.push_back({csv.cell(name), classes.of(model_name, amounts)});
  }
  return machines;
}

/// One pod, one rack per class; within a rack as in the file.
void lay_out(std::vector<Machine> machines, Cluster& cluster) {
  if (machines.empty()) return;
  cluster.pods.push_back({"pod-0"});
  for (const model::MachineClass& c : cluster.classes) {
    cluster.racks.push_back({"rack-" + c.name, PodId(0)});
  }
  std::ranges::stable_sort(machines, {}, &Machine::machine_class);
  for (const Machine& machine : machines) {
    cluster.machine_names.add(machine.name);
    cluster.machine_class.push_back(machine.machine_class);
    cluster.machine_rack.emplace_back(machine.machine_class.index());
  }
}

model::Shape read_shape(const Csv& csv, const Csv::Column& gpus, const Csv::Column& share) {
  model::Shape shape;
  const std::int64_t count = csv.integer(gpus, kMaxCount);
  if (count == 0) return shape;
  const std::int64_t milli = csv.integer(share, kGpuMilli);
  if (milli == 0) csv.fail(share.name, "a pod with a GPU takes 1 to 1000 thousandths of it");
  if (milli < kGpuMilli && count > 1) {
    csv.fail(share.name, fmt::format("{} GPUs and a share of {}", count, milli),
             "a share is of one GPU; several GPUs are whole (1000)");
  }
  if (milli < kGpuMilli) {
    shape.gpu_milli = static_cast<std::int32_t>(milli);
  } else {
    shape.gpus = static_cast<std::int32_t>(count);
  }
  return shape;
}

/// "A|B" into its parts.
std::vector<std::string_view> read_types(std::string_view list) {
  std::vector<std::string_view> types;
  while (!list.empty()) {
    const std::size_t bar = std::min(list.find('|'), list.size());
    if (bar > 0) types.push_back(list.substr(0, bar));
    list.remove_prefix(std::min(bar + 1, list.size()));
  }
  return types;
}

model::Workload read_pods(Csv csv, const std::string& file, Cluster& cluster) {
  const auto name = csv.need("name");
  const auto cpu = csv.need("cpu_milli");
  const auto memory = csv.need("memory_mib");
  const auto gpus = csv.need("num_gpu");
  const auto share = csv.need("gpu_milli");
  const auto types = csv.find("gpu_spec");
  JobTables tables(cluster, file);
  JobLine job;
  job.tasks.resize(1);
  Once names;
  for (std::int64_t index = 0; csv.next(); ++index) {
    names.add(csv, name);
    model::Shape& shape = job.tasks.front().shape;
    shape = read_shape(csv, gpus, share);
    shape.cpu_milli = csv.integer(cpu, kMaxAmount);
    shape.memory_mib = csv.integer(memory, kMaxAmount);
    job.id = csv.cell(name);
    job.arrival = index;
    job.gpu_types.clear();
    if (types && shape.uses_gpu()) job.gpu_types = read_types(csv.cell(*types));
    for (const std::string_view type : job.gpu_types) {
      if (const std::string fault = name_fault(type); !fault.empty()) csv.fail(types->name, fault);
    }
    tables.add(job, csv.line());
  }
  return tables.finish();
}

}  // namespace

model::Instance import_openb(const std::string& machines_path, const std::string& pods_path) {
  model::Instance instance;
  const std::string machines = read_file(machines_path);
  lay_out(read_machines(Csv(machines, machines_path), instance.cluster), instance.cluster);
  const std::string pods = read_file(pods_path);
  instance.workload = read_pods(Csv(pods, pods_path), pods_path, instance.cluster);
  return instance;
}

}  // namespace berth::io
