// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/report/plan_tables.hpp"

namespace berth::report {

/// Thousandths as devices: "12", "0.25".
std::string devices(std::int64_t milli);
/// "98.4"; "-" of nothing.
std::string percent(std::int64_t part, std::int64_t whole);
/// Machines, racks, pods and GPUs by type, one line.
std::string cluster_line(const model::Cluster& cluster);
/// The jobs of the instance by name. O(jobs log jobs)
std::map<std::string_view, JobId> ids_by_name(const PlanContent& content);

/// What the jobs of a queue and of the queues below it have and wait for.
struct QueueUse {
  std::int64_t pinned = 0, planned = 0;  ///< thousandths
  std::int64_t placed = 0, waiting = 0;  ///< jobs
};
/// By QueueId, then the jobs without a queue. O(jobs x depth)
std::vector<QueueUse> queue_uses(const PlanContent& content);
/// Queues in an order in which each stands behind its parent and the queues below that.
std::vector<std::size_t> queue_order(const model::Cluster& cluster);

std::string machine_table(const PlanContent& content, Grouping grouping, std::string_view title);
std::string queue_table(const PlanContent& content);
std::string user_table(const PlanContent& content);
std::string job_table(const PlanContent& content);
std::string reason_table(const PlanContent& content);

}  // namespace berth::report
