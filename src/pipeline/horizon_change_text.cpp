// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/base/span_text.hpp"
#include "berth/model/level_names.hpp"
#include "berth/pipeline/horizon_changes.hpp"

namespace berth::pipeline {
namespace {

std::string stopped_names(const model::InstanceView& instance, const std::vector<JobId>& jobs) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < jobs.size() && i < kMost; ++i) {
    text += (i == 0 ? "" : ", ") + printable(instance.workload.tables().job_names[jobs[i].index()]);
  }
  if (jobs.size() > kMost) text += fmt::format(" and {} more", jobs.size() - kMost);
  return text;
}

std::string what(const model::InstanceView& instance, const model::Horizon& horizon, JobId id,
                 const TimedChange& change) {
  const model::Cluster& cluster = instance.cluster;
  const model::Job& job = instance.workload.job(id);
  switch (change.kind) {
    case TimedChangeKind::none:
      return "it fits beside the plan as it is";
    case TimedChangeKind::eviction:
      return fmt::format("leave out {}: pays when this job is worth more than {:.6g}",
                         stopped_names(instance, change.stopped), change.loss);
    case TimedChangeKind::domain:
      return fmt::format("domain: {} instead of {}", model::name_of(change.domain),
                         model::name_of(job.domain));
    case TimedChangeKind::gpu_type:
      return "gpu_types: " + printable(cluster.gpu_types[change.gpu_type.index()]) + " too";
    case TimedChangeKind::count:
      return fmt::format("count: {} tasks instead of {}", change.count,
                         instance.workload.groups_of(job).front().count);
    case TimedChangeKind::quota: {
      const model::Queue& queue = cluster.queues[change.queue.index()];
      return fmt::format("gpu_quota: {} instead of {} for queue '{}'", change.quota,
                         queue.gpu_quota, printable(queue.name));
    }
    case TimedChangeKind::license: {
      const model::License& license = cluster.licenses[change.license];
      return fmt::format("licenses: {} of '{}' instead of {}", change.licenses,
                         printable(license.name), license.count);
    }
    case TimedChangeKind::deadline:
      return fmt::format("deadline: {} instead of {}", change.deadline,
                         instance.workload.time_of(job).deadline);
    case TimedChangeKind::length:
      return fmt::format("--horizon {} instead of {}", change.length, horizon.length);
  }
  return {};
}

}  // namespace

std::string text(const model::InstanceView& instance, const model::Horizon& horizon, JobId job,
                 const TimedChange& change) {
  return what(instance, horizon, job, change) + fmt::format("; starts at {}, {} from now",
                                                            change.start,
                                                            span_text(change.start - horizon.now));
}

}  // namespace berth::pipeline
