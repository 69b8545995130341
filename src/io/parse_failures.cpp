// SPDX-License-Identifier: Apache-2.0
#include "cluster_names.hpp"
#include "json_lines.hpp"
#include "json_text.hpp"

#include <utility>

#include "berth/io/profiles_file.hpp"

namespace berth::io {
namespace {

constexpr std::int64_t kMostSeconds = 3'155'760'000;  // 100 years, as durations

/// The machines that a name stands for: a machine, else those of a rack or a pod.
std::vector<MachineId> machines_named(const ClusterNames& names, std::string_view name) {
  if (const MachineId machine = names.machine(name); machine.valid()) return {machine};
  const model::Cluster& cluster = names.cluster();
  const RackId rack = names.rack(name);
  const PodId pod = names.pod(name);
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < cluster.machines() && (rack.valid() || pod.valid()); ++m) {
    const bool in_rack = rack.valid() && cluster.machine_rack[m] == rack;
    const bool in_pod = !rack.valid() && cluster.pod_of(MachineId(m)) == pod;
    if (in_rack || in_pod) machines.emplace_back(m);
  }
  return machines;
}

}  // namespace

std::vector<MachineFailure> parse_failures(std::string_view text, const std::string& file,
                                           const model::Cluster& cluster) {
  static constexpr std::string_view keys[] = {"machine", "from", "to"};
  const ClusterNames names(cluster);
  std::vector<MachineFailure> failures;
  each_json_line(text, file, [&](const JsonAt& at, std::int64_t) {
    std::vector<MachineId> machines;
    MachineFailure failure;
    const auto seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
      if (key == 0) machines = machines_named(names, value.name());
      if (key == 0 && machines.empty())
        value.fail("\"" + std::string(value.text()) + "\" is no machine, rack or pod");
      if (key == 1) failure.from = value.integer(0, kMostSeconds);
      if (key == 2) failure.to = value.integer(0, kMostSeconds);
    });
    at.need(keys, 3, seen);
    if (failure.to <= failure.from) {
      at.fail("\"to\" is not after \"from\"",
              "a machine is down from \"from\" until before \"to\"");
    }
    for (const MachineId machine : machines) {
      failure.machine = machine;
      failures.push_back(failure);
    }
  });
  return failures;
}

std::string failure_line(const model::Cluster& cluster, const MachineFailure& failure) {
  JsonText json;
  json.open('{').field("machine", cluster.machine_names[failure.machine.index()]);
  json.field("from", failure.from).field("to", failure.to).close('}');
  json.str() += '\n';
  return std::move(json.str());
}

}  // namespace berth::io
