// SPDX-License-Identifier: Apache-2.0
#include "horizon_jobs.hpp"
#include "horizon_occupancy.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "berth/certify/horizon_plan.hpp"

namespace berth::certify {
namespace {

/// A change of the GPUs that one queue uses.
struct QueueChange {
  std::int64_t time;
  std::int64_t milli;
  JobId starts;  ///< the planned job that starts, or invalid
};

/// Changes and GPU-seconds within the horizon, of every queue with a limit.
struct QueueUse {
  std::vector<QueueChange> changes = {};
  Int128 milli_seconds = 0;
};

class QueueSweep {
 public:
  QueueSweep(const model::InstanceView& instance, const model::Horizon& horizon)
      : instance_(instance), horizon_(horizon), uses_(instance.cluster.queues.size()) {}

  void add(JobId id, Run run, std::int64_t start, std::int64_t end) {
    const model::Job& job = instance_.workload.job(id);
    const std::int64_t milli = milli_of_run(instance_.workload, job, run);
    const JobId starts = is_decided(instance_, horizon_, job) ? id : JobId{};
    QueueId queue = job.queue;
    for (; queue.valid(); queue = instance_.cluster.queues[queue.index()].parent) {
      QueueUse& use = uses_[queue.index()];
      use.changes.push_back({start, milli, starts});
      use.changes.push_back({end, -milli, {}});
      const std::int64_t from = std::max(start, horizon_.now), to = std::min(end, horizon_.end());
      if (to > from && starts.valid()) use.milli_seconds += Int128{milli} * (to - from);
    }
  }

  void check(Findings& findings) {
    for (std::size_t q = 0; q < uses_.size(); ++q) {
      const model::Queue& queue = instance_.cluster.queues[q];
      if (queue.gpu_quota >= 0) check_quota(queue, uses_[q].changes, findings);
      if (queue.gpu_hours < 0) continue;
      if (uses_[q].milli_seconds <= Int128{queue.gpu_hours} * 3600 * 1000) continue;
      findings.add(FaultKind::quota_exceeded, "queue " + queue.name + " takes more than its " +
                                                  std::to_string(queue.gpu_hours) + " GPU-hours");
    }
  }

 private:
  /// Running jobs may be above the quota; no job may start then.
  void check_quota(const model::Queue& queue, std::vector<QueueChange>& changes,
                   Findings& findings) {
    std::ranges::sort(changes, {},
                      [](const QueueChange& c) { return std::tuple(c.time, c.milli); });
    std::int64_t used = 0;
    bool starts = false;  // some planned job, at this time
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if (i == 0 || changes[i].time != changes[i - 1].time) starts = false;
      starts = starts || (changes[i].starts.valid() && changes[i].milli > 0);
      used += changes[i].milli;
      const bool settled = i + 1 == changes.size() || changes[i + 1].time != changes[i].time;
      if (!settled || !starts || used <= 1000 * queue.gpu_quota) continue;
      findings.add(FaultKind::quota_exceeded, "queue " + queue.name + " uses more than its " +
                                                  std::to_string(queue.gpu_quota) + " GPUs at " +
                                                  std::to_string(changes[i].time));
    }
  }

  model::InstanceView instance_;
  model::Horizon horizon_;
  std::vector<QueueUse> uses_;  ///< by QueueId
};

}  // namespace

void check_queues_over_time(const model::InstanceView& instance, const model::Horizon& horizon,
                            const model::Placement& placements, std::span<const std::int64_t> ends,
                            Findings& findings) {
  QueueSweep sweep(instance, horizon);
  for (const model::Running& running : instance.workload.tables().running) {
    if (!running.pinned) continue;
    sweep.add(running.job, nullptr, horizon.now,
              end_of_running(instance, horizon, instance.workload.job(running.job)));
  }
  for (std::size_t p = 0; p < placements.size(); ++p) {
    sweep.add(placements[p].job, run_of(instance.workload, placements[p]), placements[p].start,
              ends[p]);
  }
  sweep.check(findings);
}

}  // namespace berth::certify
