// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/base/wrapped.hpp"
#include "berth/explain/explain.hpp"
#include "berth/model/level_names.hpp"

namespace berth::explain {
namespace {

class Words {
 public:
  Words(const model::InstanceView& instance, JobId job)
      : instance_(instance), job_(instance.workload.job(job)) {}

  [[nodiscard]] std::string needs() const {
    std::string text;
    for (const model::TaskGroup& group : instance_.workload.groups_of(job_)) {
      const model::Shape& shape = instance_.workload.shape(group.shape);
      text += fmt::format("{}{} x '{}'{}", text.empty() ? "" : " + ", group.count,
                          printable(instance_.workload.tables().labels[group.label]),
                          shape.gpus > 0 ? fmt::format(" of {} GPUs", shape.gpus)
                          : shape.gpu_milli > 0
                              ? fmt::format(" of {} thousandths of a GPU", shape.gpu_milli)
                              : "");
    }
    text += fmt::format(", within one {}", model::name_of(job_.domain));
    if (job_.queue.valid()) {
      text +=
          fmt::format(", queue '{}'", printable(instance_.cluster.queues[job_.queue.index()].name));
    }
    return text;
  }

  [[nodiscard]] std::string names(const std::vector<JobId>& jobs) const {
    constexpr std::size_t kMost = 6;
    std::string text;
    for (std::size_t i = 0; i < jobs.size() && i < kMost; ++i) {
      text += (i == 0 ? "" : ", ") + name(jobs[i]);
    }
    if (jobs.size() > kMost) text += fmt::format(" and {} more", jobs.size() - kMost);
    return text;
  }

  [[nodiscard]] std::string name(JobId job) const {
    return printable(instance_.workload.tables().job_names[job.index()]);
  }

  [[nodiscard]] std::string eviction(const Change& change) const {
    std::vector<JobId> moved;
    for (const model::JobPlacement& placed : change.moved) moved.push_back(placed.job);
    std::string text = change.stopped.empty() ? "" : "stop " + names(change.stopped);
    if (!moved.empty()) text += (text.empty() ? "move " : "; move ") + names(moved);
    return text + fmt::format(": pays when this job is worth more than {:.6g}", change.loss);
  }

  [[nodiscard]] std::string text(const Change& change) const {
    const model::Cluster& cluster = instance_.cluster;
    switch (change.kind) {
      case ChangeKind::none:
        return "it fits as it is: the plan has a defect";
      case ChangeKind::eviction:
        return eviction(change);
      case ChangeKind::domain:
        return fmt::format("domain: {} instead of {}", model::name_of(change.domain),
                           model::name_of(job_.domain));
      case ChangeKind::gpu_type:
        for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
          if (((change.gpu_types >> t) & 1) != 0) {
            return "gpu_types: " + printable(cluster.gpu_types[t]) + " too";
          }
        }
        break;
      case ChangeKind::count:
        return fmt::format("count: {} tasks instead of {}", change.count,
                           instance_.workload.groups_of(job_).front().count);
      case ChangeKind::quota: {
        const model::Queue& queue = cluster.queues[change.queue.index()];
        return fmt::format("gpu_quota: {} instead of {} for queue '{}'", change.quota,
                           queue.gpu_quota, printable(queue.name));
      }
      case ChangeKind::license: {
        const model::License& license = cluster.licenses[change.license];
        return fmt::format("licenses: {} of '{}' instead of {}", change.licenses,
                           printable(license.name), license.count);
      }
    }
    return {};
  }

 private:
  model::InstanceView instance_;
  const model::Job& job_;
};

}  // namespace

std::string text(const model::InstanceView& instance, JobId job, const Change& change) {
  return Words(instance, job).text(change);
}

std::string needs_text(const model::InstanceView& instance, JobId job) {
  return wrapped(fmt::format("  needs {}", Words(instance, job).needs()), 4) + "\n";
}

std::string text(const model::InstanceView& instance, const Explanation& explanation) {
  const Words words(instance, explanation.job);
  std::string text = needs_text(instance, explanation.job);
  if (!explanation.places.empty()) {
    text += fmt::format("  {:<28}{:>12}{:>12}{:>16}\n", "cheapest place", "value", "costs",
                        "free for tasks");
  }
  for (const PricedPlace& place : explanation.places) {
    text += fmt::format("  {:<28}{:>12.6g}{:>12.6g}{:>16}\n", place.place, place.value, place.cost,
                        place.room);
  }
  if (!explanation.changes.empty()) text += "  any of these lets it run beside the others:\n";
  for (const Change& change : explanation.changes) {
    text += wrapped("    " + words.text(change), 6) + "\n";
  }
  return text;
}

}  // namespace berth::explain
