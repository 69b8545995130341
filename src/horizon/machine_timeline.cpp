// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/machine_timeline.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::horizon {
namespace {

CapacityProfile constant_profile(Seconds now, Gpus gpus) {
  const CapacityStep step{.from = now, .gpus = gpus};
  return CapacityProfile(std::span(&step, 1));
}

std::size_t duration_class(Seconds duration, std::size_t classes) {
  const auto log2 = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(duration)));
  return std::min(classes, log2) - 1;
}

}  // namespace

MachineTimeline::MachineTimeline(const Problem& problem) : problem_(problem) {
  for (const Machine& machine : problem.machines) {
    machines_.push_back(constant_profile(problem.now, machine.gpus));
  }
  for (const Pool& pool : problem.pools) {
    PoolState state{.first = static_cast<std::size_t>(pool.machines.begin),
                    .machines = pool.machines.size(),
                    .free_gpus = CapacityProfile(pool.capacity),
                    .free_machines = constant_profile(problem.now, 0),
                    .earliest = {}};
    for (const Machine& machine : pool.machines.of(problem.machines)) {
      state.machine_gpus = std::max(state.machine_gpus, machine.gpus);
    }
    const auto whole =
        std::ranges::count(pool.machines.of(problem.machines), state.machine_gpus, &Machine::gpus);
    state.free_machines = constant_profile(problem.now, whole);
    state.earliest.assign(static_cast<std::size_t>(state.machine_gpus) * kDurationClasses,
                          std::vector<Seconds>(state.machines, problem.now));
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

Gpus MachineTimeline::free_at(PoolId pool, Seconds time) const {
  return pools_[pool.index()].free_gpus.least_free(time, time + 1);
}

bool MachineTimeline::takes_whole_machines(const PoolState& pool,
                                           std::span<const TaskGroup> tasks) {
  return tasks.size() == 1 && tasks.front().gpus == pool.machine_gpus;
}

Seconds MachineTimeline::earliest_start(const Option& option, PoolId pool_id, Seconds from) {
  PoolState& pool = pools_[pool_id.index()];
  from = std::max(from, problem_.now);
  const auto tasks = problem_.tasks_of(option);
  const bool single = tasks.size() == 1 && tasks.front().tasks == 1;
  for (const TaskGroup& group : tasks) {
    if (group.gpus > pool.machine_gpus) return kNever;
  }
  return single ? earliest_single(pool, option, tasks.front().gpus, from)
                : earliest_gang(pool, option, from);
}

Seconds MachineTimeline::earliest_single(PoolState& pool, const Option& option, std::int32_t gpus,
                                         Seconds from) {
  const Seconds least = pool.free_gpus.earliest_fit(from, option.duration, gpus);
  const std::size_t duration = duration_class(option.duration, kDurationClasses);
  auto& earliest = pool.earliest[static_cast<std::size_t>(gpus - 1) * kDurationClasses + duration];
  Seconds best = kNever;
  for (std::size_t m = 0; m < pool.machines && best > least; ++m) {
    if (earliest[m] >= best) continue;
    const CapacityProfile& machine = machines_[pool.first + m];
    if (from <= earliest[m]) {
      const Seconds shortest = Seconds{1} << duration;
      earliest[m] = machine.earliest_fit(earliest[m], shortest, gpus);
      if (earliest[m] >= best) continue;
    }
    const Seconds start = machine.earliest_fit(std::max(from, earliest[m]), option.duration, gpus);
    best = std::min(best, start);
  }
  return best;
}

/// Lower bound on the start of the gang, >= from: until then too few machines are free for one task
/// of the largest group, each for the whole duration from some moment on.
Seconds MachineTimeline::gang_lower_bound(const PoolState& pool, const Option& option,
                                          Seconds from) const {
  const auto groups = problem_.tasks_of(option);
  const TaskGroup& group = *std::ranges::max_element(groups, {}, &TaskGroup::gpus);
  std::vector<std::pair<Seconds, Gpus>> rooms;  // when a machine has room first, and its tasks
  for (std::size_t m = pool.first; m < pool.first + pool.machines; ++m) {
    const Gpus tasks = problem_.machines[m].gpus / group.gpus;
    if (tasks == 0) continue;
    rooms.emplace_back(machines_[m].earliest_fit(from, option.duration, group.gpus), tasks);
  }
  std::ranges::sort(rooms);
  Gpus missing = group.tasks;
  for (const auto& [start, tasks] : rooms) {
    missing -= tasks;
    if (missing <= 0) return start;
  }
  return kNever;
}

Seconds MachineTimeline::earliest_gang(const PoolState& pool, const Option& option,
                                       Seconds from) const {
  const auto tasks = problem_.tasks_of(option);
  const bool whole = takes_whole_machines(pool, tasks);
  const CapacityProfile& guide = whole ? pool.free_machines : pool.free_gpus;
  const Gpus needed = whole ? tasks.front().tasks : option.gpus;
  std::vector<TaskShare> shares;
  Seconds start = guide.earliest_fit(from, option.duration, needed);
  while (start < kNever) {
    const Seconds later = gang_lower_bound(pool, option, start);
    if (later == start) {
      shares.clear();
      if (assign_tasks(pool, option, start, shares)) return start;
      // the machines' free GPUs do not add up to the tasks; no machine gains room before
      start = guide.next_step(start);
    } else {
      start = later;
    }
    if (start < kNever) start = guide.earliest_fit(start, option.duration, needed);
  }
  return kNever;
}

bool MachineTimeline::assign_tasks(const PoolState& pool, const Option& option, Seconds start,
                                   std::vector<TaskShare>& shares) const {
  const auto groups = problem_.tasks_of(option);
  const Seconds end = start + option.duration;
  const bool gang = groups.size() > 1 || groups.front().tasks > 1 ||
                    groups.front().gpus == pool.machine_gpus;
  const std::size_t before = shares.size();
  std::int64_t missing = 0;
  for (const TaskGroup& group : groups) missing += group.tasks;
  std::vector<std::int32_t> left;
  for (const TaskGroup& group : groups) left.push_back(group.tasks);
  for (std::size_t i = 0; i < pool.machines && missing > 0; ++i) {
    const std::size_t m = pool.first + (gang ? pool.machines - 1 - i : i);
    Gpus free = machines_[m].least_free(start, end);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto fit = std::min<Gpus>(left[g], free / groups[g].gpus);
      if (fit <= 0) continue;
      shares.push_back({.machine = MachineId(m),
                        .group = static_cast<std::int32_t>(g),
                        .tasks = static_cast<std::int32_t>(fit)});
      left[g] -= static_cast<std::int32_t>(fit);
      free -= fit * groups[g].gpus;
      missing -= fit;
    }
  }
  if (missing > 0) shares.resize(before);
  return missing == 0;
}

void MachineTimeline::change(PoolState& pool, MachineId machine, Seconds from, Seconds to,
                             Gpus gpus) {
  CapacityProfile& profile = machines_[machine.index()];
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
  for (const TaskShare& share : shares) {
    const Gpus gpus = share.tasks * groups[static_cast<std::size_t>(share.group)].gpus;
    change(pool, share.machine, start, start + option.duration, sign * gpus);
  }
}

void MachineTimeline::reserve(const Option& option, PoolId pool_id, Seconds start,
                              std::vector<TaskShare>& shares) {
  PoolState& pool = pools_[pool_id.index()];
  const std::size_t before = shares.size();
  const bool assigned = assign_tasks(pool, option, start, shares);
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
