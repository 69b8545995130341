// SPDX-License-Identifier: Apache-2.0
#include "table_rows.hpp"
#include "text_table.hpp"

#include <vector>

#include <fmt/format.h>

#include "berth/base/printable.hpp"

namespace berth::report {
namespace {

/// Calls `visit` with the row of a queue and of all above it; jobs without a queue have the last.
template <class Visit>
void for_each_above(const model::Cluster& cluster, QueueId queue, const Visit& visit) {
  if (!queue.valid()) return visit(cluster.queues.size());
  for (QueueId q = queue; q.valid(); q = cluster.queues[q.index()].parent) visit(q.index());
}

std::string indented(const model::Cluster& cluster, const model::Queue& queue) {
  std::string indent;
  for (QueueId q = queue.parent; q.valid(); q = cluster.queues[q.index()].parent) indent += "  ";
  return indent + printable(queue.name);
}

}  // namespace

std::vector<std::size_t> queue_order(const model::Cluster& cluster) {
  std::vector<std::size_t> order;
  const auto visit = [&](const auto& self, QueueId parent) -> void {
    for (std::size_t q = 0; q < cluster.queues.size(); ++q) {
      if (cluster.queues[q].parent != parent) continue;
      order.push_back(q);
      self(self, QueueId(q));
    }
  };
  visit(visit, QueueId{});
  return order;
}

std::vector<QueueUse> queue_uses(const PlanContent& content) {
  const model::Cluster& cluster = content.instance.cluster;
  const model::WorkloadView& workload = content.instance.workload;
  std::vector<QueueUse> result(cluster.queues.size() + 1);
  const auto add = [&](JobId id, auto member, std::int64_t amount) {
    for_each_above(cluster, workload.job(id).queue,
                   [&](std::size_t row) { result[row].*member += amount; });
  };
  for (const model::JobPlacement& placed : content.placement) {
    add(placed.job, &QueueUse::planned, workload.gpu_milli(workload.job(placed.job)));
    add(placed.job, &QueueUse::placed, 1);
  }
  for (const JobId id : model::pinned_jobs(workload.tables())) {
    add(id, &QueueUse::pinned, workload.gpu_milli(workload.job(id)));
    add(id, &QueueUse::placed, 1);
  }
  const auto ids = ids_by_name(content);
  for (const model::RawUnplacedJob& job : content.waiting) {
    if (const auto at = ids.find(job.job); at != ids.end()) add(at->second, &QueueUse::waiting, 1);
  }
  return result;
}

std::string queue_table(const PlanContent& content) {
  const model::Cluster& cluster = content.instance.cluster;
  const std::vector<QueueUse> uses = queue_uses(content);
  TextTable table({"queue", "quota", "pinned", "planned", "used %", "placed", "waiting"});
  const auto add = [&](const std::string& name, std::int64_t quota, const QueueUse& use) {
    table.add({name, quota < 0 ? "-" : fmt::format("{}", quota), devices(use.pinned),
               devices(use.planned),
               quota < 0 ? "-" : percent(use.pinned + use.planned, 1000 * quota),
               fmt::format("{}", use.placed), fmt::format("{}", use.waiting)});
  };
  for (const std::size_t q : queue_order(cluster)) {
    add(indented(cluster, cluster.queues[q]), cluster.queues[q].gpu_quota, uses[q]);
  }
  const QueueUse& none = uses.back();
  if (none.placed + none.waiting > 0) add("(no queue)", -1, none);
  return table.text();
}

}  // namespace berth::report
