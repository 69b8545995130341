// SPDX-License-Identifier: Apache-2.0
// Jobs on machines whose rules concern others.
#include <algorithm>

#include "berth/planner_model/room.hpp"

namespace berth::planner_model {

void Room::reopen(MachineId m) {
  if (closed_.empty()) return;
  const auto closed = closed_.find(slot(m));
  if (closed == closed_.end()) return;
  machines_[slot(m)] = closed->second;
  ++version_[slot(m)];
  closed_.erase(closed);
}

const model::FreeMachine& Room::shared(MachineId m) const {
  const auto closed = closed_.find(slot(m));
  return closed == closed_.end() ? machines_[slot(m)] : closed->second;
}

void Room::add_pinned(const model::WorkloadTables& tables) {
  for (const model::Running& running : tables.running) {
    if (!running.pinned) continue;
    for (const model::TaskPlacement& task : tables.tasks_of(running)) {
      if (holds(task.machine)) enter(tables, {running.job, running.rules}, task.machine);
    }
  }
}

void Room::enter(const model::WorkloadTables& tables, const RuledJob& job, MachineId m) {
  const model::PlacementRules& rules = tables.rules[job.rules];
  if (!rules.concern_others) return;
  if (ruled_jobs_.empty()) ruled_jobs_.resize(size());
  std::vector<RuledJob>& here = ruled_jobs_[slot(m)];
  const auto at = std::ranges::lower_bound(here, job);
  if (at != here.end() && *at == job) return;
  here.insert(at, job);
  if (!rules.exclusive) return;
  closed_.emplace(slot(m), machines_[slot(m)]);
  machines_[slot(m)].close();
  ++version_[slot(m)];
}

void Room::leave(JobId job, MachineId m) {
  if (ruled_jobs_.empty()) return;
  if (std::erase_if(ruled_jobs_[slot(m)], [&](const RuledJob& r) { return r.job == job; }) > 0) {
    reopen(m);
  }
}

bool Room::admits(const model::WorkloadTables& tables, std::uint32_t rules, MachineId m) const {
  if (tables.rules[rules].exclusive && tasks(m) > 0) return false;
  return std::ranges::all_of(ruled_jobs(m), [&](const RuledJob& other) {
    return model::may_share_machine(tables.rules[rules], tables.rules[other.rules]);
  });
}

bool admits(const Room& room, const model::WorkloadView& workload,
            const model::JobPlacement& placement) {
  const std::uint32_t rules = workload.job(placement.job).rules;
  return std::ranges::all_of(placement.tasks, [&](const model::TaskPlacement& task) {
    return room.admits(workload.tables(), rules, task.machine);
  });
}

void enter(Room& room, const model::WorkloadView& workload, const model::JobPlacement& placement) {
  const std::uint32_t rules = workload.job(placement.job).rules;
  if (rules == 0) return;
  for (const model::TaskPlacement& t : placement.tasks) {
    if (room.holds(t.machine)) room.enter(workload.tables(), {placement.job, rules}, t.machine);
  }
}

}  // namespace berth::planner_model
