// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/machine_timeline.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::horizon {
namespace {

std::size_t duration_class(Seconds duration, std::size_t classes) {
  const auto log2 = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(duration)));
  return std::min(classes, log2) - 1;
}

}  // namespace

MachineTimeline::MachineTimeline(const Problem& problem) : problem_(problem), machines_(problem) {
  for (const auto& quota : problem.quotas) quotas_.emplace_back(quota);
  for (const Pool& pool : problem.pools) {
    PoolState state{.first = static_cast<std::size_t>(pool.machines.begin),
                    .machines = pool.machines.size(),
                    .free_gpus = CapacityProfile(pool.capacity),
                    .free_machines = CapacityProfile(problem.now, 0),
                    .earliest = {},
                    .domains = {}};
    for (const Machine& machine : pool.machines.of(problem.machines)) {
      state.machine_gpus = std::max(state.machine_gpus, machine.gpus);
    }
    const auto whole =
        std::ranges::count(pool.machines.of(problem.machines), state.machine_gpus, &Machine::gpus);
    state.free_machines = CapacityProfile(problem.now, whole);
    state.earliest.assign(static_cast<std::size_t>(state.machine_gpus) * kDurationClasses,
                          std::vector<Seconds>(state.machines, problem.now));
    add_domains(state);
    pools_.push_back(std::move(state));
  }
  for (const ClosedGpus& closed : closed_gpus(problem)) {
    PoolState& pool = pools_[problem.machines[closed.machine.index()].pool.index()];
    for (std::size_t s = 0; s + 1 < closed.steps.size(); ++s) {
      const CapacityStep& step = closed.steps[s];
      if (step.gpus == 0) continue;
      change(pool, closed.machine, step.from, closed.steps[s + 1].from, step.gpus);
      // the pool's capacity is without them already
      pool.free_gpus.reserve(step.from, closed.steps[s + 1].from, -step.gpus);
    }
  }
}

void MachineTimeline::add_domains(PoolState& pool) {
  const auto same = [&](model::Level level, const Machine& a, const Machine& b) {
    if (level == model::Level::machine) return false;
    if (level == model::Level::rack) return a.rack == b.rack && a.pod == b.pod;
    return level == model::Level::cluster || a.pod == b.pod;
  };
  for (std::size_t level = 0; level < pool.domains.size(); ++level) {
    std::vector<MachineRange>& ranges = pool.domains[level];
    for (std::size_t m = pool.first; m < pool.first + pool.machines; ++m) {
      const Machine& machine = problem_.machines[m];
      const bool begins = m == pool.first || !same(static_cast<model::Level>(level), machine,
                                                   problem_.machines[m - 1]);
      if (begins) ranges.push_back({.first = m});
      ranges.back().last = m + 1;
      ranges.back().gpus += machine.gpus;
    }
  }
}

Gpus MachineTimeline::free_at(PoolId pool, Seconds time) const {
  return pools_[pool.index()].free_gpus.least_free(time, time + 1);
}

bool MachineTimeline::takes_whole_machines(const PoolState& pool,
                                           std::span<const TaskGroup> tasks) {
  return tasks.size() == 1 && tasks.front().gpus == pool.machine_gpus && pool.machine_gpus > 0;
}

/// Earliest t >= from at which every quota leaves enough throughout; kNever: none.
Seconds MachineTimeline::quotas_allow(const Option& option, Seconds from) const {
  Seconds start = from;
  for (Seconds before = kNever; start != before && start < kNever;) {
    before = start;
    for (const std::int32_t quota : problem_.quotas_of(option)) {
      if (start >= kNever) break;
      start = quotas_[static_cast<std::size_t>(quota)].earliest_fit(start, option.duration,
                                                                    option.gpus);
    }
  }
  return start;
}

Seconds MachineTimeline::earliest_start(const Option& option, PoolId pool, Seconds from) {
  from = quotas_allow(option, std::max(from, problem_.now));
  while (from < kNever) {
    const Seconds start = earliest_in_pool(pools_[pool.index()], option, from);
    if (start >= kNever) return kNever;
    from = quotas_allow(option, start);
    if (from == start) return start;
  }
  return kNever;
}

Seconds MachineTimeline::earliest_in_pool(PoolState& pool, const Option& option, Seconds from) {
  const auto tasks = problem_.tasks_of(option);
  for (const TaskGroup& group : tasks) {
    if (group.gpus > pool.machine_gpus) return kNever;
  }
  if (tasks.size() == 1 && tasks.front().tasks == 1) {
    return earliest_single(pool, option, tasks.front(), from);
  }
  Seconds best = kNever;
  for (const MachineRange& range : pool.domains[static_cast<std::size_t>(option.domain)]) {
    if (range.gpus < option.gpus) continue;
    best = std::min(best, earliest_gang(pool, range, option, from, best));
  }
  return best;
}

Seconds MachineTimeline::earliest_single(PoolState& pool, const Option& option,
                                         const TaskGroup& group, Seconds from) {
  const Seconds least = pool.free_gpus.earliest_fit(from, option.duration, group.gpus);
  Seconds best = kNever;
  if (group.gpus == 0) {
    for (std::size_t m = pool.first; m < pool.first + pool.machines && best > least; ++m) {
      best = std::min(best, machines_.earliest_fit(m, from, option.duration, group));
    }
    return best;
  }
  const std::size_t duration = duration_class(option.duration, kDurationClasses);
  auto& earliest =
      pool.earliest[static_cast<std::size_t>(group.gpus - 1) * kDurationClasses + duration];
  for (std::size_t m = 0; m < pool.machines && best > least; ++m) {
    if (earliest[m] >= best) continue;
    if (from <= earliest[m]) {
      const Seconds shortest = Seconds{1} << duration;
      earliest[m] = machines_.gpus(pool.first + m).earliest_fit(earliest[m], shortest, group.gpus);
      if (earliest[m] >= best) continue;
    }
    const Seconds start =
        machines_.earliest_fit(pool.first + m, std::max(from, earliest[m]), option.duration, group);
    best = std::min(best, start);
  }
  return best;
}

/// Lower bound on the start of the gang, >= from: until then too few machines are free for one task
/// of the largest group, each for the whole duration from some moment on.
Seconds MachineTimeline::gang_lower_bound(const MachineRange& range, const Option& option,
                                          Seconds from) const {
  const auto groups = problem_.tasks_of(option);
  // groups of an elastic job may be without tasks
  const TaskGroup& group = *std::ranges::max_element(
      groups, {}, [](const TaskGroup& g) { return std::pair(g.tasks > 0, g.gpus); });
  std::vector<std::pair<Seconds, Gpus>> rooms;  // when a machine has room first, and its tasks
  for (std::size_t m = range.first; m < range.last; ++m) {
    const Gpus tasks = machines_.most_tasks(m, group);
    if (tasks == 0) continue;
    rooms.emplace_back(machines_.earliest_fit(m, from, option.duration, group), tasks);
  }
  std::ranges::sort(rooms);
  Gpus missing = group.tasks;
  for (const auto& [start, tasks] : rooms) {
    missing -= tasks;
    if (missing <= 0) return start;
  }
  return kNever;
}

Seconds MachineTimeline::next_change(const MachineRange& range, Seconds time) const {
  Seconds next = kNever;
  for (std::size_t m = range.first; m < range.last; ++m) {
    next = std::min(next, machines_.next_step(m, time));
  }
  return next;
}

Seconds MachineTimeline::earliest_gang(const PoolState& pool, const MachineRange& range,
                                       const Option& option, Seconds from, Seconds limit) const {
  const auto tasks = problem_.tasks_of(option);
  const bool whole = takes_whole_machines(pool, tasks);
  const CapacityProfile& guide = whole ? pool.free_machines : pool.free_gpus;
  const Gpus needed = whole ? tasks.front().tasks : option.gpus;
  const bool along_guide = machines_.only_gpus() && range.last - range.first == pool.machines;
  std::vector<TaskShare> shares;
  Seconds start = guide.earliest_fit(from, option.duration, needed);
  while (start < limit) {
    const Seconds later = gang_lower_bound(range, option, start);
    if (later == start) {
      shares.clear();
      if (assign_tasks(pool, range, option, start, shares)) return start;
      // what is free on the machines does not add up to the tasks; none gains room before
      start = along_guide ? guide.next_step(start) : next_change(range, start);
    } else {
      start = later;
    }
    if (start < limit) start = guide.earliest_fit(start, option.duration, needed);
  }
  return kNever;
}

bool MachineTimeline::assign_tasks(const PoolState& pool, const MachineRange& range,
                                   const Option& option, Seconds start,
                                   std::vector<TaskShare>& shares) const {
  const auto groups = problem_.tasks_of(option);
  const Seconds end = start + option.duration;
  const bool gang =
      groups.size() > 1 || groups.front().tasks > 1 || takes_whole_machines(pool, groups);
  const std::size_t before = shares.size();
  std::int64_t missing = 0;
  std::vector<std::int32_t> left;
  for (const TaskGroup& group : groups) {
    missing += group.tasks;
    left.push_back(group.tasks);
  }
  for (std::size_t i = 0; i < range.last - range.first && missing > 0; ++i) {
    const std::size_t m = gang ? range.last - 1 - i : range.first + i;
    Room room = machines_.least_free(m, start, end);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Gpus fit = room.tasks_of(groups[g], left[g]);
      if (fit <= 0) continue;
      shares.push_back({.machine = MachineId(m),
                        .group = static_cast<std::int32_t>(g),
                        .tasks = static_cast<std::int32_t>(fit)});
      left[g] -= static_cast<std::int32_t>(fit);
      room.take(groups[g], fit);
      missing -= fit;
    }
  }
  if (missing > 0) shares.resize(before);
  return missing == 0;
}

void MachineTimeline::change(PoolState& pool, MachineId machine, Seconds from, Seconds to,
                             Gpus gpus) {
  CapacityProfile& profile = machines_.gpus(machine.index());
  const Gpus all = problem_.machines[machine.index()].gpus;
  if (all == pool.machine_gpus) {
    profile.for_each_step(from, to, [&](Seconds step_from, Seconds step_to, Gpus free) {
      const Gpus lost = (free == all ? 1 : 0) - (free - gpus == all ? 1 : 0);
      if (lost != 0) pool.free_machines.reserve(step_from, step_to, lost);
    });
  }
  profile.reserve(from, to, gpus);
  pool.free_gpus.reserve(from, to, gpus);
  if (gpus > 0) return;
  for (auto& earliest : pool.earliest) earliest[machine.index() - pool.first] = problem_.now;
}

void MachineTimeline::change_all(PoolState& pool, const Option& option, Seconds start,
                                 std::span<const TaskShare> shares, int sign) {
  const auto groups = problem_.tasks_of(option);
  const Seconds end = start + option.duration;
  for (const TaskShare& share : shares) {
    const TaskGroup& group = groups[static_cast<std::size_t>(share.group)];
    const Gpus gpus = Gpus{share.tasks} * group.gpus;
    if (gpus > 0) change(pool, share.machine, start, end, sign * gpus);
    machines_.reserve(share.machine.index(), start, end, share.tasks * group.needs, sign);
  }
  for (const std::int32_t quota : problem_.quotas_of(option)) {
    quotas_[static_cast<std::size_t>(quota)].reserve(start, end, sign * option.gpus);
  }
}

bool MachineTimeline::fits(const Option& option, PoolId, Seconds start,
                           const std::vector<TaskShare>& shares) const {
  if (quotas_allow(option, start) != start) return false;
  const auto groups = problem_.tasks_of(option);
  const Seconds end = start + option.duration;
  std::map<MachineId, Room> rooms;
  return std::ranges::all_of(shares, [&](const TaskShare& share) {
    const auto [room, first] = rooms.try_emplace(share.machine);
    if (first) room->second = machines_.least_free(share.machine.index(), start, end);
    const TaskGroup& group = groups[static_cast<std::size_t>(share.group)];
    if (room->second.tasks_of(group, share.tasks) < share.tasks) return false;
    room->second.take(group, share.tasks);
    return true;
  });
}

void MachineTimeline::reserve(const Option& option, PoolId pool_id, Seconds start,
                              std::vector<TaskShare>& shares) {
  PoolState& pool = pools_[pool_id.index()];
  const std::size_t before = shares.size();
  bool assigned = false;
  for (const MachineRange& range : pool.domains[static_cast<std::size_t>(option.domain)]) {
    if (range.gpus < option.gpus) continue;
    assigned = assign_tasks(pool, range, option, start, shares);
    if (assigned) break;
  }
  BERTH_EXPECT(assigned);
  change_all(pool, option, start, std::span(shares).subspan(before), 1);
}

void MachineTimeline::release(const Option& option, PoolId pool, Seconds start,
                              const std::vector<TaskShare>& shares) {
  change_all(pools_[pool.index()], option, start, shares, -1);
}

void MachineTimeline::retake(const Option& option, PoolId pool, Seconds start,
                             const std::vector<TaskShare>& shares) {
  change_all(pools_[pool.index()], option, start, shares, 1);
}

}  // namespace berth::horizon
