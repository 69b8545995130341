// SPDX-License-Identifier: Apache-2.0
#include "rule_check.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace berth::certify {
namespace {

constexpr std::array<std::string_view, 3> kDomains{"machine", "rack", "pod"};

std::string quoted(const model::WorkloadTables& tables, JobId job) {
  return "job " + std::string(tables.job_names[job.index()]);
}

bool has_any(const std::vector<std::string>& labels, const std::vector<std::string>& of) {
  return std::ranges::any_of(
      labels, [&](const std::string& label) { return std::ranges::find(of, label) != of.end(); });
}

}  // namespace

std::string_view why_apart(const model::PlacementRules& job, const model::PlacementRules& other) {
  if (job.exclusive) return "exclusive";
  return has_any(job.not_with, other.labels) ? "not_with" : "";
}

RuleCheck::RuleCheck(const model::InstanceView& instance)
    : instance_(instance),
      pinned_(instance.cluster.licenses.size(), 0),
      taken_(instance.cluster.licenses.size(), 0) {
  const model::WorkloadTables& tables = instance.workload.tables();
  for (const model::Running& running : tables.running) {
    if (!running.pinned) continue;
    for (const auto& use : tables.rules[running.rules].licenses) pinned_[use.license] += use.count;
  }
  for (const model::PlacementRules& rules : tables.rules) {
    apart_ = apart_ || rules.exclusive || !rules.not_with.empty();
  }
  if (!apart_) return;
  first_.resize(instance.cluster.machines());
  several_.resize(instance.cluster.machines(), 0);
  for (const model::Running& running : tables.running) {
    if (!running.pinned) continue;
    for (const model::TaskPlacement& t : tables.tasks_of(running)) {
      enter({t.machine, running.job, running.rules, true});
    }
  }
}

void RuleCheck::add(const model::JobPlacement& placed, Findings& findings) {
  const model::Job& job = instance_.workload.job(placed.job);
  for (const model::TaskPlacement& t : placed.tasks) {
    if (apart_) enter({t.machine, placed.job, job.rules, false});
  }
  for (const auto& use : instance_.workload.tables().rules[job.rules].licenses) {
    taken_[use.license] += use.count;
  }
  check_counts(placed, findings);
}

void RuleCheck::check_counts(const model::JobPlacement& placed, Findings& findings) const {
  const model::WorkloadTables& tables = instance_.workload.tables();
  const model::Job& job = instance_.workload.job(placed.job);
  if (job.rules == 0) return;
  const model::PlacementRules& rules = tables.rules[job.rules];
  std::array<std::map<std::int32_t, std::int64_t>, 3> tasks;
  for (const model::TaskPlacement& t : placed.tasks) {
    const RackId rack = instance_.cluster.machine_rack[t.machine.index()];
    ++tasks[0][t.machine.value()];
    ++tasks[1][rack.value()];
    ++tasks[2][instance_.cluster.racks[rack.index()].pod.value()];
  }
  for (std::size_t l = 0; l < tasks.size(); ++l) {
    std::int64_t most = 0;
    for (const auto& [domain, count] : tasks[l]) most = std::max(most, count);
    const std::string domain(kDomains[l]);
    if (most > rules.max_tasks[l]) {
      findings.add(FaultKind::too_many_together,
                   quoted(tables, placed.job) + " has " + std::to_string(most) + " tasks in one " +
                       domain + "; max_tasks_per allows " + std::to_string(rules.max_tasks[l]));
    }
    if (std::ssize(tasks[l]) < rules.min_domains[l]) {
      findings.add(FaultKind::too_few_domains,
                   quoted(tables, placed.job) + " has tasks in " + std::to_string(tasks[l].size()) +
                       " different domains of level " + domain + "; min_domains asks for " +
                       std::to_string(rules.min_domains[l]));
    }
  }
}

void RuleCheck::enter(const Entry& entry) {
  JobId& first = first_[entry.machine.index()];
  if (!first.valid()) first = entry.job;
  if (first != entry.job) several_[entry.machine.index()] = 1;
  const model::PlacementRules& rules = instance_.workload.tables().rules[entry.rules];
  if (!rules.exclusive && rules.labels.empty() && rules.not_with.empty()) return;
  entries_.push_back(entry);
}

void RuleCheck::report_licenses(Findings& findings) const {
  for (std::size_t l = 0; l < taken_.size(); ++l) {
    const model::License& license = instance_.cluster.licenses[l];
    const std::int64_t left = std::max<std::int64_t>(0, license.count - pinned_[l]);
    if (taken_[l] <= left) continue;
    findings.add(FaultKind::limit_exceeded, "license " + license.name + ": jobs take " +
                                                std::to_string(taken_[l]) + " of " +
                                                std::to_string(left) + " beside the pinned ones");
  }
}

void RuleCheck::report(Findings& findings) const {
  report_licenses(findings);
  std::vector<Entry> entries = entries_;
  const auto key = [](const Entry& e) { return std::tuple(e.machine, e.job); };
  std::ranges::sort(entries, {}, key);
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [&](const Entry& a, const Entry& b) { return key(a) == key(b); }),
                entries.end());
  for (std::size_t first = 0, last = 0; first < entries.size(); first = last) {
    while (last < entries.size() && entries[last].machine == entries[first].machine) ++last;
    report_machine(entries, first, last, findings);
  }
}

/// Entries [first, last) are those of one machine.
void RuleCheck::report_machine(const std::vector<Entry>& entries, std::size_t first,
                               std::size_t last, Findings& findings) const {
  const model::WorkloadTables& tables = instance_.workload.tables();
  const MachineId machine = entries[first].machine;
  const std::string where =
      " on machine " + std::string(instance_.cluster.machine_names[machine.index()]);
  for (std::size_t i = first; i < last; ++i) {
    const model::PlacementRules& rules = tables.rules[entries[i].rules];
    for (std::size_t k = first; k < last; ++k) {
      if (i == k || (entries[i].pinned && entries[k].pinned)) continue;
      const std::string_view why = why_apart(rules, tables.rules[entries[k].rules]);
      if (why.empty()) continue;
      findings.add(FaultKind::kept_apart, quoted(tables, entries[i].job) + where + " beside " +
                                              quoted(tables, entries[k].job) + "; its " +
                                              std::string(why) + " does not allow that");
    }
    // a job without rules is no entry
    if (!rules.exclusive || several_[machine.index()] == 0 || last - first > 1) continue;
    findings.add(FaultKind::kept_apart,
                 quoted(tables, entries[i].job) + where +
                     " beside another job; its exclusive does not allow that");
  }
}

}  // namespace berth::certify
