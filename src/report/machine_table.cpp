// SPDX-License-Identifier: Apache-2.0
#include "machine_use.hpp"
#include "table_rows.hpp"
#include "text_table.hpp"

#include <vector>

#include <fmt/format.h>

#include "berth/base/printable.hpp"

namespace berth::report {
namespace {

std::vector<std::string> cells(const std::string& name, const MachineUse& use) {
  return {name,
          fmt::format("{}", use.machines),
          fmt::format("{}", use.gpus),
          devices(use.closed),
          devices(use.pinned),
          devices(use.planned),
          devices(use.free()),
          fmt::format("{}", use.whole),
          percent(use.pinned + use.planned, 1000 * use.gpus)};
}

/// Row of a machine and the names of the rows.
struct MachineRows {
  std::vector<std::string> names;
  std::vector<std::size_t> row;  ///< by machine
};

MachineRows machine_rows(const model::Cluster& cluster, Grouping grouping) {
  MachineRows rows;
  const auto name_all = [&](const auto& list) {
    for (const auto& entry : list) rows.names.push_back(printable(entry.name));
  };
  if (grouping == Grouping::pod) name_all(cluster.pods);
  if (grouping == Grouping::rack) name_all(cluster.racks);
  if (grouping == Grouping::gpu_type) {
    for (const std::string& type : cluster.gpu_types) rows.names.push_back(printable(type));
    rows.names.emplace_back("(no GPUs)");
  }
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const MachineId machine(m);
    const GpuTypeId type = cluster.class_of(machine).gpu_type;
    if (grouping == Grouping::machine) rows.names.push_back(printable(cluster.machine_names[m]));
    rows.row.push_back(grouping == Grouping::pod    ? cluster.pod_of(machine).index()
                       : grouping == Grouping::rack ? cluster.machine_rack[m].index()
                       : grouping == Grouping::machine
                           ? m
                           : (type.valid() ? type.index() : cluster.gpu_types.size()));
  }
  return rows;
}

}  // namespace

std::string machine_table(const PlanContent& content, Grouping grouping, std::string_view title) {
  const MachineRows rows = machine_rows(content.instance.cluster, grouping);
  std::vector<MachineUse> sums(rows.names.size());
  MachineUse all;
  const std::vector<MachineUse> by_machine = machine_uses(content);
  for (std::size_t m = 0; m < by_machine.size(); ++m) {
    sums[rows.row[m]] += by_machine[m];
    all += by_machine[m];
  }
  TextTable table({std::string(title), "machines", "GPUs", "closed", "pinned", "planned", "free",
                   "whole", "used %"});
  for (std::size_t r = 0; r < sums.size(); ++r) {
    if (sums[r].machines > 0) table.add(cells(rows.names[r], sums[r]));
  }
  table.add(cells("total", all));
  return table.text();
}

}  // namespace berth::report
