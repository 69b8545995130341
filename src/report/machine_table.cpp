// SPDX-License-Identifier: Apache-2.0
#include "table_rows.hpp"
#include "text_table.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "berth/base/printable.hpp"

namespace berth::report {
namespace {

/// GPU thousandths and machines of a row.
struct Use {
  std::int64_t machines = 0;
  std::int64_t gpus = 0;     ///< devices
  std::int64_t closed = 0;   ///< thousandths that no job takes: the machine is not up
  std::int64_t pinned = 0;   ///< thousandths of content that no plan moves
  std::int64_t planned = 0;  ///< thousandths
  std::int64_t whole = 0;    ///< devices that are free entirely

  Use& operator+=(const Use& other) {
    machines += other.machines, gpus += other.gpus, closed += other.closed;
    pinned += other.pinned, planned += other.planned, whole += other.whole;
    return *this;
  }
  [[nodiscard]] std::int64_t free() const { return 1000 * gpus - closed - pinned - planned; }
};

std::int64_t milli(const model::TaskPlacement& task) {
  return std::int64_t{task.milli} * std::popcount(task.devices);
}

/// The use of one machine with the tasks of the placement that are on it.
Use use_of(const model::Cluster& cluster, MachineId m,
           std::span<const model::TaskPlacement* const> tasks) {
  const int gpus = cluster.class_of(m).gpus;
  Use use{.machines = 1, .gpus = gpus};
  std::uint64_t taken = 0;
  for (const model::Immovable& content : cluster.immovable_on(m)) {
    use.pinned += std::int64_t{content.milli} * std::popcount(content.devices);
    taken |= content.devices;
  }
  for (const model::TaskPlacement* task : tasks) {
    use.planned += milli(*task);
    taken |= task->devices;
  }
  if (cluster.state_of(m) != model::MachineState::up) {
    use.closed = std::int64_t{1000} * gpus - use.pinned - use.planned;
  } else {
    use.whole = gpus - std::popcount(taken);
  }
  return use;
}

std::vector<Use> uses(const PlanContent& content) {
  const model::Cluster& cluster = content.instance.cluster;
  std::vector<const model::TaskPlacement*> tasks;
  for (const model::JobPlacement& placed : content.placement) {
    for (const model::TaskPlacement& task : placed.tasks) tasks.push_back(&task);
  }
  std::ranges::stable_sort(tasks, {}, [](const auto* task) { return task->machine; });
  std::vector<Use> result;
  std::size_t first = 0;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    std::size_t end = first;
    while (end < tasks.size() && tasks[end]->machine == MachineId(m)) ++end;
    result.push_back(use_of(cluster, MachineId(m), std::span(tasks).subspan(first, end - first)));
    first = end;
  }
  return result;
}

std::vector<std::string> cells(const std::string& name, const Use& use) {
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
  std::vector<Use> sums(rows.names.size());
  Use all;
  const std::vector<Use> by_machine = uses(content);
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
