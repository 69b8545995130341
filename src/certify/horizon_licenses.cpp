// SPDX-License-Identifier: Apache-2.0
#include "horizon_jobs.hpp"
#include "horizon_occupancy.hpp"

#include <map>
#include <string>
#include <vector>

#include "berth/certify/horizon_plan.hpp"

namespace berth::certify {
namespace {

/// Change of the licenses in use at a time, and of the part that the plan started.
struct Change {
  std::int64_t used = 0;
  std::int64_t planned = 0;
};

class LicenseSweep {
 public:
  LicenseSweep(const model::InstanceView& instance, const model::Horizon& horizon)
      : instance_(instance), horizon_(horizon), changes_(instance.cluster.licenses.size()) {}

  void add(JobId id, std::int64_t start, std::int64_t end) {
    if (start >= end) return;
    const model::Job& job = instance_.workload.job(id);
    const bool planned = is_decided(instance_, horizon_, job);
    for (const auto& use : instance_.workload.rules_of(job).licenses) {
      std::map<std::int64_t, Change>& changes = changes_[use.license];
      changes[start].used += use.count;
      changes[end].used -= use.count;
      if (!planned) continue;
      changes[start].planned += use.count;
      changes[end].planned -= use.count;
    }
  }

  /// Jobs that run on may take more than there are; no planned job may run then that takes one.
  void report(Findings& findings) const {
    for (std::size_t l = 0; l < changes_.size(); ++l) {
      const model::License& license = instance_.cluster.licenses[l];
      std::int64_t used = 0, planned = 0;
      for (const auto& [time, change] : changes_[l]) {
        used += change.used;
        planned += change.planned;
        if (planned == 0 || used <= license.count) continue;
        findings.add(FaultKind::limit_exceeded,
                     "license " + license.name + ": jobs take " + std::to_string(used) + " of " +
                         std::to_string(license.count) + " at " + std::to_string(time));
        break;
      }
    }
  }

 private:
  model::InstanceView instance_;
  model::Horizon horizon_;
  std::vector<std::map<std::int64_t, Change>> changes_;  ///< by license, then time
};

}  // namespace

void check_licenses_over_time(const model::InstanceView& instance, const model::Horizon& horizon,
                              const model::Placement& placements,
                              std::span<const std::int64_t> ends, Findings& findings) {
  if (instance.cluster.licenses.empty()) return;
  LicenseSweep sweep(instance, horizon);
  for (const model::Running& running : instance.workload.tables().running) {
    if (!running.pinned) continue;
    sweep.add(running.job, horizon.now,
              end_of_running(instance, horizon, instance.workload.job(running.job)));
  }
  for (std::size_t p = 0; p < placements.size(); ++p) {
    sweep.add(placements[p].job, placements[p].start, ends[p]);
  }
  sweep.report(findings);
}

}  // namespace berth::certify
