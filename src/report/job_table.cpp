// SPDX-License-Identifier: Apache-2.0
#include "table_rows.hpp"
#include "text_table.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/model/level_names.hpp"
#include "berth/report/plan_difference.hpp"

namespace berth::report {
namespace {

std::string_view width_name(const model::Cluster& cluster, const model::JobPlacement& placed) {
  return model::name_of(model::width(cluster, placed.tasks));
}

std::string type_name(const model::Cluster& cluster, const model::JobPlacement& placed) {
  for (const model::TaskPlacement& task : placed.tasks) {
    if (task.devices == 0) continue;
    return printable(cluster.gpu_types[cluster.class_of(task.machine).gpu_type.index()]);
  }
  return "-";
}

/// The job as one row: where it is, or why it waits.
std::vector<std::string> placed_cells(const PlanContent& content, const model::JobPlacement& placed,
                                      std::string_view state) {
  const model::Cluster& cluster = content.instance.cluster;
  const model::WorkloadView& workload = content.instance.workload;
  constexpr std::size_t kPlaces = 36;
  return {printable(workload.tables().job_names[placed.job.index()]),
          std::string(state),
          devices(workload.gpu_milli(workload.job(placed.job))),
          type_name(cluster, placed),
          std::string(width_name(cluster, placed)),
          places(cluster, placed, kPlaces)};
}

std::string_view state_of(const PlanDifference& changes, const model::Running* running, JobId job) {
  if (running == nullptr) return "placed";
  return std::ranges::binary_search(changes.kept, job) ? "kept" : "moved";
}

}  // namespace

std::string job_table(const PlanContent& content) {
  const model::WorkloadTables& tables = content.instance.workload.tables();
  const PlanDifference changes = difference(running_placement(tables), content.placement);
  std::vector<std::pair<JobId, std::vector<std::string>>> rows;
  for (const model::JobPlacement& placed : content.placement) {
    const model::Running* const running =
        tables.running_of(content.instance.workload.job(placed.job));
    rows.emplace_back(placed.job,
                      placed_cells(content, placed, state_of(changes, running, placed.job)));
  }
  for (const model::Running& running : tables.running) {
    if (!running.pinned) continue;
    const auto tasks = tables.tasks_of(running);
    rows.emplace_back(
        running.job,
        placed_cells(content, {.job = running.job, .tasks = {tasks.begin(), tasks.end()}},
                     "pinned"));
  }
  const auto ids = ids_by_name(content);
  for (const model::RawUnplacedJob& job : content.waiting) {
    const auto at = ids.find(job.job);
    if (at == ids.end()) continue;
    const model::Job& record = content.instance.workload.job(at->second);
    const bool stopped = tables.running_of(record) != nullptr;
    rows.emplace_back(at->second,
                      std::vector<std::string>{printable(job.job), stopped ? "stopped" : "waits",
                                               devices(content.instance.workload.gpu_milli(record)),
                                               "-", "-", printable(job.reason)});
  }
  std::ranges::sort(rows, {}, [](const auto& row) { return row.first; });
  TextTable table({"job", "state", "GPUs", "type", "width", "machines, or why it waits"});
  table.words_last();
  for (auto& [id, row] : rows) table.add(std::move(row));
  return table.text();
}

}  // namespace berth::report
