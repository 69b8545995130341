// SPDX-License-Identifier: Apache-2.0
#include "run_rules.hpp"

#include "rule_check.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "berth/certify/check.hpp"

namespace berth::certify {
namespace {

using model::JobRecord;
using model::JobRun;

/// A run begins to hold a machine, or leaves it.
struct MachineHold {
  MachineId machine;
  std::int64_t time = 0;
  bool begins = false;  ///< runs that end at a moment leave before others begin
  JobId job;
  bool pinned = false;

  [[nodiscard]] auto key() const { return std::tuple(machine, time, begins, job); }
};

std::vector<MachineHold> holds_of(const model::Instance& instance,
                                  std::span<const JobRecord> records) {
  std::vector<MachineHold> changes;
  for (const JobRecord& record : records) {
    for (const JobRun& run : record.runs) {
      if (run.start == run.end) continue;
      const bool pinned = is_pinned_run(instance, record.job, run);
      MachineId last;
      for (const model::TaskPlacement& task : run.tasks) {
        if (task.machine == last) continue;
        last = task.machine;
        changes.push_back({task.machine, run.start, true, record.job, pinned});
        changes.push_back({task.machine, run.end, false, record.job, pinned});
      }
    }
  }
  std::ranges::sort(changes, {}, &MachineHold::key);
  return changes;
}

void check_run_counts(const model::Instance& instance, std::span<const JobRecord> records,
                      const std::function<void(JobId, const std::string&)>& fault) {
  CheckResult result;
  Findings findings(result);
  const RuleCheck check(instance);
  for (const JobRecord& record : records) {
    if (instance.workload.job(record.job).rules == 0) continue;
    for (const JobRun& run : record.runs) {
      if (is_pinned_run(instance, record.job, run)) continue;
      const std::int64_t before = result.fault_count;
      check.check_counts({.job = record.job, .tasks = run.tasks}, findings);
      if (result.fault_count > before) fault(record.job, "breaks max_tasks_per or min_domains");
    }
  }
}

}  // namespace

bool is_pinned_run(const model::Instance& instance, JobId job, const JobRun& run) {
  const model::Running* running = instance.workload.running_of(instance.workload.job(job));
  if (running == nullptr || !running->pinned) return false;
  const auto tasks = instance.workload.tasks_of(*running);
  return std::ranges::is_permutation(tasks, run.tasks);
}

void check_run_rules(const model::Instance& instance, std::span<const JobRecord> records,
                     const std::function<void(JobId, const std::string&)>& fault) {
  const auto& rules = instance.workload.rules;
  check_run_counts(instance, records, fault);
  if (std::ranges::none_of(rules, &model::PlacementRules::concern_others)) return;
  const auto rules_of = [&](const MachineHold& change) -> const model::PlacementRules& {
    return rules[instance.workload.job(change.job).rules];
  };
  std::vector<MachineHold> there;
  for (const MachineHold& change : holds_of(instance, records)) {
    if (!there.empty() && there.front().machine != change.machine) there.clear();
    if (!change.begins) {
      std::erase_if(there, [&](const MachineHold& other) { return other.job == change.job; });
      continue;
    }
    for (const MachineHold& other : there) {
      if (other.job == change.job || (other.pinned && change.pinned)) continue;
      std::string_view why = why_apart(rules_of(change), rules_of(other));
      if (why.empty()) why = why_apart(rules_of(other), rules_of(change));
      if (why.empty()) continue;
      fault(change.job,
            "is on machine " + std::string(instance.cluster.machine_names[change.machine.index()]) +
                " beside job " + std::string(instance.workload.job_names[other.job.index()]) +
                "; " + std::string(why) + " does not allow that");
    }
    there.push_back(change);
  }
}

}  // namespace berth::certify
