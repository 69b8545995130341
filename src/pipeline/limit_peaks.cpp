// SPDX-License-Identifier: Apache-2.0
#include "limit_peaks.hpp"

#include "horizon_costs.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

namespace berth::pipeline {
namespace {

/// Of the placed tasks: an elastic job has other numbers than its record.
std::int64_t placed_milli(const model::WorkloadView& workload, JobId job,
                          const model::RawPlacement& placed) {
  std::int64_t milli = 0;
  for (const model::TaskGroup& group : workload.groups_of(workload.job(job))) {
    const std::string_view label = workload.tables().labels[group.label];
    milli += workload.shape(group.shape).total_milli() *
             std::ranges::count(placed.tasks, label, &model::RawTask::shape);
  }
  return milli;
}

}  // namespace

LimitPeaks::LimitPeaks(const model::InstanceView& instance, const model::RawHorizonPlan& plan)
    : instance_(instance) {
  const model::WorkloadView& workload = instance.workload;
  const NameTable& names = workload.tables().job_names;
  std::unordered_map<std::string_view, JobId> ids;
  for (std::size_t j = 0; j < names.size(); ++j) ids.emplace(names[j], JobId(j));
  for (std::size_t p = 0; p < plan.plan.placements.size(); ++p) {
    const model::RawPlacement& placed = plan.plan.placements[p];
    const auto job = ids.find(placed.job);
    if (job == ids.end()) continue;
    spans_.push_back({.job = job->second,
                      .from = placed.start,
                      .to = plan.ends[p].value_or(model::kNever),
                      .milli = placed_milli(workload, job->second, placed)});
  }
  const model::Horizon horizon{.now = plan.now, .length = plan.length};
  for (const model::Running& running : workload.tables().running) {
    if (!running.pinned) continue;
    const model::Job& job = workload.job(running.job);
    spans_.push_back({.job = running.job,
                      .from = plan.now,
                      .to = running_until(instance, horizon, job),
                      .milli = workload.gpu_milli(job)});
  }
}

template <class Amount>
std::int64_t LimitPeaks::peak(std::int64_t from, std::int64_t to, const Amount& amount) const {
  std::map<std::int64_t, std::int64_t> changes;
  for (const Span& span : spans_) {
    const std::int64_t begin = std::max(span.from, from), end = std::min(span.to, to);
    const std::int64_t takes = begin < end ? amount(span) : 0;
    if (takes == 0) continue;
    changes[begin] += takes;
    changes[end] -= takes;
  }
  std::int64_t now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return most;
}

std::int64_t LimitPeaks::gpu_milli(QueueId queue, std::int64_t from, std::int64_t to) const {
  return peak(from, to, [&](const Span& span) {
    const auto& queues = instance_.cluster.queues;
    for (QueueId q = instance_.workload.job(span.job).queue; q.valid();
         q = queues[q.index()].parent) {
      if (q == queue) return span.milli;
    }
    return std::int64_t{0};
  });
}

std::int64_t LimitPeaks::licenses(std::uint32_t license, std::int64_t from, std::int64_t to) const {
  return peak(from, to, [&](const Span& span) {
    std::int64_t count = 0;
    const model::Job& job = instance_.workload.job(span.job);
    for (const model::LicenseUse& use : instance_.workload.rules_of(job).licenses) {
      if (use.license == license) count += use.count;
    }
    return count;
  });
}

}  // namespace berth::pipeline
