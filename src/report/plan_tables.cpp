// SPDX-License-Identifier: Apache-2.0
#include "berth/report/plan_tables.hpp"

#include "table_rows.hpp"
#include "text_table.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/report/reasons.hpp"

namespace berth::report {

std::string devices(std::int64_t milli) {
  return milli % 1000 == 0 ? fmt::format("{}", milli / 1000)
                           : fmt::format("{:.2f}", static_cast<double>(milli) / 1000.0);
}

std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f}", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::map<std::string_view, JobId> ids_by_name(const PlanContent& content) {
  std::map<std::string_view, JobId> ids;
  const NameTable& names = content.instance.workload.tables().job_names;
  for (std::size_t j = 0; j < names.size(); ++j) ids.emplace(names[j], JobId(j));
  return ids;
}

std::string reason_table(const PlanContent& content) {
  const model::WorkloadView& workload = content.instance.workload;
  const auto ids = ids_by_name(content);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_reason;  // jobs, thousandths
  for (const model::RawUnplacedJob& job : content.waiting) {
    auto& [jobs, gpus] = by_reason[printable(reason_summary(job.reason))];
    ++jobs;
    if (const auto at = ids.find(job.job); at != ids.end()) {
      gpus += workload.gpu_milli(workload.job(at->second));
    }
  }
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [reason, sums] : by_reason) order.emplace_back(-sums.first, reason);
  std::ranges::sort(order);
  TextTable table({"waiting", "GPUs", "reason"});
  table.words_last();
  for (const auto& [jobs, reason] : order) {
    table.add({fmt::format("{}", -jobs), devices(by_reason[reason].second), reason});
  }
  return table.text();
}

std::string cluster_line(const model::Cluster& cluster) {
  std::vector<std::int64_t> of_type(cluster.gpu_types.size(), 0);
  std::int64_t closed = 0;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const model::MachineClass& c = cluster.class_of(MachineId(m));
    if (c.gpu_type.valid()) of_type[c.gpu_type.index()] += c.gpus;
    if (cluster.state_of(MachineId(m)) != model::MachineState::up) ++closed;
  }
  std::string types;
  for (std::size_t t = 0; t < of_type.size(); ++t) {
    if (of_type[t] == 0) continue;
    types += fmt::format("{}{} {}", types.empty() ? "" : ", ", of_type[t],
                         printable(cluster.gpu_types[t]));
  }
  const auto counted = [](std::size_t n, std::string_view what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  return fmt::format(
      "cluster  {} in {} and {}, {} GPUs{}{}\n", counted(cluster.machines(), "machine"),
      counted(cluster.racks.size(), "rack"), counted(cluster.pods.size(), "pod"), cluster.gpus(),
      types.empty() ? "" : " (" + types + ")",
      closed == 0 ? "" : ", " + counted(static_cast<std::size_t>(closed), "machine") + " closed");
}

std::string header(const PlanContent& content) {
  const auto pinned = std::ssize(model::pinned_jobs(content.instance.workload.tables()));
  const auto running = std::ssize(content.instance.workload.tables().running);
  return cluster_line(content.instance.cluster) +
         fmt::format("jobs     {} placed, {} waiting, {} pinned; {} were running\n",
                     content.placement.size(), content.waiting.size(), pinned, running);
}

std::string table(const PlanContent& content, Grouping grouping) {
  switch (grouping) {
    case Grouping::queue:
      return queue_table(content);
    case Grouping::user:
      return user_table(content);
    case Grouping::job:
      return job_table(content);
    case Grouping::reason:
      return reason_table(content);
    case Grouping::gpu_type:
      return machine_table(content, grouping, "GPU type");
    case Grouping::pod:
      return machine_table(content, grouping, "pod");
    case Grouping::rack:
      return machine_table(content, grouping, "rack");
    case Grouping::machine:
      return machine_table(content, grouping, "machine");
  }
  return {};
}

}  // namespace berth::report
