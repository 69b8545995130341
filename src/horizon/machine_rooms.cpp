// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/machine_rooms.hpp"

#include <algorithm>
#include <array>

namespace berth::horizon {
namespace {

using model::kNoLimit;
using model::kResources;

/// True when a task may lack the resource on some machine that has GPUs for it. Outages that take
/// some of it count as such.
bool can_be_short(const Problem& problem, std::size_t row) {
  const TaskGroup* most = nullptr;  // per GPU
  for (const TaskGroup& group : problem.task_groups) {
    if (group.needs[row] == 0) continue;
    if (group.gpus == 0) return true;
    if (most == nullptr || group.needs[row] * most->gpus > most->needs[row] * group.gpus) {
      most = &group;
    }
  }
  if (most == nullptr) return false;
  if (std::ranges::any_of(problem.outages, [&](const Outage& o) { return o.taken[row] != 0; })) {
    return true;
  }
  return std::ranges::any_of(problem.machines, [&](const Machine& machine) {
    return machine.capacity[row] != kNoLimit &&
           machine.capacity[row] / std::max(1, machine.gpus) * most->gpus < most->needs[row];
  });
}

}  // namespace

Gpus Room::tasks_of(const TaskGroup& group, Gpus most) const {
  Gpus tasks = most;
  if (group.gpus > 0) tasks = std::min(tasks, gpus / group.gpus);
  for (std::size_t r = 0; r < kResources; ++r) {
    if (group.needs[r] == 0 || amounts[r] == kNoLimit) continue;
    tasks = std::min<Gpus>(tasks, amounts[r] / group.needs[r]);
  }
  return std::max<Gpus>(tasks, 0);
}

void Room::take(const TaskGroup& group, Gpus tasks) {
  gpus -= tasks * group.gpus;
  for (std::size_t r = 0; r < kResources; ++r) {
    if (amounts[r] != kNoLimit) amounts[r] -= tasks * group.needs[r];
  }
}

MachineRooms::MachineRooms(const Problem& problem)
    : problem_(problem), marks_(problem), limits_(problem) {
  for (std::size_t r = 0; r < kResources; ++r) {
    if (can_be_short(problem, r)) rows_.push_back(r);
  }
  for (const Machine& machine : problem.machines) {
    gpus_.push_back(CapacityProfile(problem.now, machine.gpus));
    for (const std::size_t r : rows_) {
      amounts_.push_back(CapacityProfile(problem.now, machine.capacity[r]));
    }
  }
  if (has_shares(problem)) {
    shares_.assign(problem.machines.size(), DeviceShares(problem.now));
    for (const auto& [machine, outages] : outages_with_shares(problem)) {
      shares_[machine.index()] = DeviceShares(problem.now, outages);
    }
  }
  for (const Outage& outage : problem.outages) {
    reserve(outage.machine.index(), std::max(problem.now, outage.from), outage.to, outage.taken, 1);
  }
}

Seconds MachineRooms::devices_fit(std::size_t machine, Seconds from, Seconds duration,
                                  const TaskGroup& group, Seconds until) const {
  if (group.milli == 0) return gpus_[machine].earliest_fit(from, duration, group.gpus, until);
  return shares_[machine].earliest_fit(
      from, duration, problem_.machines[machine].share_taken(group.milli), gpus_[machine], until);
}

/// Passes over GPUs and resources until the start fits all of them.
Seconds MachineRooms::earliest_fit(std::size_t machine, Seconds from, Seconds duration,
                                   const TaskGroup& group, Seconds until) const {
  Seconds start = devices_fit(machine, from, duration, group, until);
  while (start < kNever) {
    Seconds later = start;
    for (std::size_t r = 0; r < rows_.size() && later < kNever; ++r) {
      const std::int64_t need = group.needs[rows_[r]];
      if (need > 0) later = row(machine, r).earliest_fit(later, duration, need, until);
    }
    if (later < kNever) later = limits_.earliest_fit(machine, later, duration, group, until);
    if (later < kNever) {
      later = marks_.earliest_clear(machine, later, duration, group.neighbours, until);
    }
    if (later == start || later >= kNever) return later;
    start = devices_fit(machine, later, duration, group, until);
  }
  return kNever;
}

bool MachineRooms::clear_for(const TaskGroup& group, std::size_t machine, Seconds from,
                             Seconds to) const {
  return marks_.earliest_clear(machine, from, to - from, group.neighbours, from) == from;
}

Room MachineRooms::least_free(std::size_t machine, Seconds from, Seconds to) const {
  Room room{.gpus = gpus_[machine].least_free(from, to)};
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    room.amounts[rows_[r]] = row(machine, r).least_free(from, to);
  }
  return room;
}

Gpus MachineRooms::most_tasks(std::size_t machine, const TaskGroup& group) const {
  const Machine& of = problem_.machines[machine];
  const Gpus most = Room{.gpus = of.gpus, .amounts = of.capacity}.tasks_of(group, group.tasks);
  if (group.milli == 0) return most;
  return std::min(most, of.gpus * (DeviceShares::kWhole / of.share_taken(group.milli)));
}

Seconds MachineRooms::next_step(std::size_t machine, Seconds time) const {
  Seconds next = gpus_[machine].next_step(time);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    next = std::min(next, row(machine, r).next_step(time));
  }
  next = std::min(next, marks_.next_step(machine, time));
  next = std::min(next, limits_.next_step(machine, time));
  if (!shares_.empty()) next = std::min(next, shares_[machine].next_step(time));
  return next;
}

void MachineRooms::reserve(std::size_t machine, Seconds from, Seconds to,
                           const model::Resources& amounts, int sign) {
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const std::int64_t amount = amounts[rows_[r]];
    if (amount == 0) continue;
    amounts_[machine * rows_.size() + r].reserve(from, to, sign * amount);
  }
}

}  // namespace berth::horizon
