// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/machine_timeline.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/horizon/spread_count.hpp"

namespace berth::horizon {

MachineTimeline::MachineTimeline(const Problem& problem)
    : problem_(problem),
      machines_(problem),
      unit_(has_shares(problem) ? Gpus{model::kGpuMilli} : Gpus{1}) {
  for (const auto& quota : unit_ > 1 ? problem.quotas_milli : problem.quotas) {
    quotas_.emplace_back(quota);
  }
  for (const auto& license : problem.licenses) licenses_.emplace_back(license);
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
    const std::int32_t classes = state.machine_gpus + (unit_ > 1 ? kShareClasses : 0);
    state.earliest.assign(static_cast<std::size_t>(classes) * kDurationClasses,
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

std::size_t MachineTimeline::row_of(const PoolState& pool, const TaskGroup& group,
                                    Seconds duration) {
  const auto log2 = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(duration)));
  const std::int32_t size =
      group.milli > 0 ? pool.machine_gpus + (group.milli - 1) / kShareClass : group.gpus - 1;
  return static_cast<std::size_t>(size) * kDurationClasses + std::min(kDurationClasses, log2) - 1;
}

Gpus MachineTimeline::free_at(PoolId pool, Seconds time) const {
  return pools_[pool.index()].free_gpus.least_free(time, time + 1);
}

bool MachineTimeline::takes_whole_machines(const PoolState& pool,
                                           std::span<const TaskGroup> tasks) {
  return tasks.size() == 1 && tasks.front().gpus == pool.machine_gpus && pool.machine_gpus > 0;
}

/// Earliest t >= from at which every quota and license leaves enough throughout; kNever: none.
Seconds MachineTimeline::limits_allow(const Option& option, Seconds from, Seconds until) const {
  Seconds start = from;
  for (Seconds before = kNever; start != before && start < kNever;) {
    before = start;
    for (const std::int32_t quota : problem_.quotas_of(option)) {
      if (start >= kNever) break;
      start = quotas_[static_cast<std::size_t>(quota)].earliest_fit(start, option.duration,
                                                                    quota_gpus(option), until);
    }
    for (const LicenseUse& use : problem_.licenses_of(option)) {
      if (start >= kNever) break;
      start = licenses_[static_cast<std::size_t>(use.license)].earliest_fit(start, option.duration,
                                                                            use.count, until);
    }
  }
  return start;
}

Seconds MachineTimeline::earliest_until(const Option& option, PoolId pool, Seconds from,
                                        Seconds until) {
  from = limits_allow(option, std::max(from, problem_.now), until);
  while (from <= until && from < kNever) {
    const Seconds start = earliest_in_pool(pools_[pool.index()], option, from, until);
    if (start >= kNever) return kNever;
    from = limits_allow(option, start, until);
    if (from == start) return start;
  }
  return kNever;
}

Seconds MachineTimeline::earliest_in_pool(PoolState& pool, const Option& option, Seconds from,
                                          Seconds until) {
  const auto tasks = problem_.tasks_of(option);
  for (const TaskGroup& group : tasks) {
    if (group.gpus + (group.milli > 0 ? 1 : 0) > pool.machine_gpus) return kNever;
  }
  if (tasks.size() == 1 && tasks.front().tasks == 1) {
    return earliest_single(pool, option, tasks.front(), from, until);
  }
  Seconds best = until < kNever ? until + 1 : kNever;
  for_each_domain(pool, option, [&](const MachineRange& range) {
    best = std::min(best, earliest_gang(pool, range, option, from, best));
    return false;
  });
  return best <= until ? best : kNever;
}

/// Calls found(range) for the domains that may hold all tasks, until it is true. Where uplinks have
/// limits, racks come before pods and these before the cluster: a job within one has no traffic.
template <class Found>
bool MachineTimeline::for_each_domain(const PoolState& pool, const Option& option,
                                      const Found& found) const {
  const auto widest = static_cast<std::size_t>(option.domain);
  const bool limited = option.traffic >= 0 && machines_.limits().used();
  const auto rack = static_cast<std::size_t>(model::Level::rack);
  for (std::size_t level = limited ? std::min(rack, widest) : widest; level <= widest; ++level) {
    for (const MachineRange& range : pool.domains[level]) {
      if (range.gpus >= option.gpus && found(range)) return true;
    }
  }
  return false;
}

Seconds MachineTimeline::earliest_single(PoolState& pool, const Option& option,
                                         const TaskGroup& group, Seconds from, Seconds until) {
  const Seconds least = pool.free_gpus.earliest_fit(from, option.duration, group.gpus, until);
  Seconds best = until < kNever ? until + 1 : kNever;
  if (group.gpus == 0 && group.milli == 0) {
    for (std::size_t m = pool.first; m < pool.first + pool.machines && best > least; ++m) {
      best = std::min(best, machines_.earliest_fit(m, from, option.duration, group, best));
    }
    return best <= until ? best : kNever;
  }
  const std::size_t row = row_of(pool, group, option.duration);
  const std::vector<Seconds>& earliest = pool.earliest[row];
  for (std::size_t m = 0; m < pool.machines && best > least; ++m) {
    if (earliest[m] >= best) continue;
    if (from <= earliest[m]) {
      raise_earliest(pool, row, m, group, best);
      if (earliest[m] >= best) continue;
    }
    const Seconds start = machines_.earliest_fit(pool.first + m, std::max(from, earliest[m]),
                                                 option.duration, group, best);
    best = std::min(best, start);
  }
  return best <= until ? best : kNever;
}

/// Searches for the earliest start of the row's tasks on a machine of the pool; where there is none
/// until `until`, that is the bound.
void MachineTimeline::raise_earliest(PoolState& pool, std::size_t row, std::size_t machine,
                                     const TaskGroup& group, Seconds until) const {
  const TaskGroup least_task{
      .gpus = group.gpus,
      .milli = group.milli > 0 ? (group.milli - 1) / kShareClass * kShareClass + 1 : 0};
  const Seconds shortest = Seconds{1} << (row % kDurationClasses);
  Seconds& earliest = pool.earliest[row][machine];
  earliest = std::min(
      until, machines_.devices_fit(pool.first + machine, earliest, shortest, least_task, until));
}

/// Lower bound on the start of the gang, >= from: until then too few machines are free for one task
/// of the largest group, each for the whole duration from some moment on.
/// @param limit  a start from then on is of no use
Seconds MachineTimeline::gang_lower_bound(PoolState& pool, const MachineRange& range,
                                          const Option& option, Seconds from, Seconds limit) const {
  const auto groups = problem_.tasks_of(option);
  // groups of an elastic job may be without tasks
  const TaskGroup& group = *std::ranges::max_element(
      groups, {}, [](const TaskGroup& g) { return std::pair(g.tasks > 0, g.gpus); });
  const Gpus most = option.spread < 0
                        ? group.tasks
                        : problem_.spreads[static_cast<std::size_t>(option.spread)].most.front();
  std::vector<std::pair<Seconds, Gpus>> rooms;  // when a machine has room first, and its tasks
  Gpus missing = group.tasks;
  const bool devices = group.gpus > 0 || group.milli > 0;
  const std::size_t row = devices ? row_of(pool, group, option.duration) : 0;
  for (std::size_t m = range.first; m < range.last; ++m) {
    const Gpus tasks = std::min(most, machines_.most_tasks(m, group));
    if (tasks == 0) continue;
    const Seconds least = devices ? pool.earliest[row][m - pool.first] : from;
    if (least > limit) continue;
    const Seconds start =
        machines_.earliest_fit(m, std::max(from, least), option.duration, group, limit);
    if (devices && start > from && least <= from) {
      raise_earliest(pool, row, m - pool.first, group, limit);
    }
    if (start == from) missing -= tasks;
    if (missing <= 0) return from;
    if (start > from && start < kNever) rooms.emplace_back(start, tasks);
  }
  std::ranges::sort(rooms);
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

Seconds MachineTimeline::earliest_gang(PoolState& pool, const MachineRange& range,
                                       const Option& option, Seconds from, Seconds limit) const {
  const auto tasks = problem_.tasks_of(option);
  const bool whole = takes_whole_machines(pool, tasks);
  const CapacityProfile& guide = whole ? pool.free_machines : pool.free_gpus;
  const Gpus needed = whole ? tasks.front().tasks : option.gpus;
  std::vector<TaskShare> shares;
  Seconds start = guide.earliest_fit(from, option.duration, needed, limit);
  while (start < limit) {
    const Seconds later = gang_lower_bound(pool, range, option, start, limit);
    if (later == start) {
      shares.clear();
      if (assign_tasks(pool, range, option, start, shares)) return start;
      // what is free on the machines does not add up to the tasks; none gains room before
      start = next_change(range, start);
    } else {
      start = later;
    }
    if (start < limit) start = guide.earliest_fit(start, option.duration, needed, limit);
  }
  return kNever;
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
  if (gpus < 0) forget_starts(pool, machine, from);
}

/// A task that room from `from` on lets start must still run then.
void MachineTimeline::forget_starts(PoolState& pool, MachineId machine, Seconds from) const {
  for (std::size_t row = 0; row < pool.earliest.size(); ++row) {
    const Seconds shortest = Seconds{1} << (row % kDurationClasses);
    Seconds& earliest = pool.earliest[row][machine.index() - pool.first];
    earliest = std::min(earliest, std::max(problem_.now, from - shortest + 1));
  }
}

void MachineTimeline::change_share(PoolState& pool, const TaskShare& share, Seconds from,
                                   Seconds to, Gpus milli) {
  DeviceShares& shares = machines_.shares(share.machine.index());
  const auto spans = shares.reserve(static_cast<std::size_t>(share.lane), from, to, milli);
  for (const auto& span : spans) {
    change(pool, share.machine, span.from, span.to, milli > 0 ? 1 : -1);
  }
  if (milli < 0) forget_starts(pool, share.machine, from);
}

void MachineTimeline::change_all(PoolState& pool, const Option& option, Seconds start,
                                 std::span<const TaskShare> shares, int sign) {
  const auto groups = problem_.tasks_of(option);
  const Seconds end = start + option.duration;
  for (const TaskShare& share : shares) {
    const TaskGroup& group = groups[static_cast<std::size_t>(share.group)];
    const Gpus gpus = Gpus{share.tasks} * group.gpus;
    if (gpus > 0) change(pool, share.machine, start, end, sign * gpus);
    if (group.milli > 0) {
      const Gpus each = problem_.machines[share.machine.index()].share_taken(group.milli);
      change_share(pool, share, start, end, sign * share.tasks * each);
    }
    machines_.reserve(share.machine.index(), start, end, share.tasks * group.needs, sign);
    machines_.marks().set(share.machine.index(), start, end, group.neighbours, sign);
  }
  machines_.limits().reserve(option, start, shares, sign);
  for (const std::int32_t quota : problem_.quotas_of(option)) {
    quotas_[static_cast<std::size_t>(quota)].reserve(start, end, sign * quota_gpus(option));
  }
  for (const LicenseUse& use : problem_.licenses_of(option)) {
    licenses_[static_cast<std::size_t>(use.license)].reserve(start, end, sign * use.count);
  }
}

bool MachineTimeline::fits(const Option& option, PoolId, Seconds start,
                           const std::vector<TaskShare>& shares) const {
  if (limits_allow(option, start) != start) return false;
  const auto groups = problem_.tasks_of(option);
  std::map<MachineId, MachineRoom> rooms;
  PlaceRoom places(machines_.limits(), option, start, 0, 0);
  SpreadCount spread(problem_, option);
  const bool free = std::ranges::all_of(shares, [&](const TaskShare& share) {
    auto found = rooms.find(share.machine);
    if (found == rooms.end()) {
      MachineRoom empty = room_of(share.machine.index(), option, start);
      found = rooms.emplace(share.machine, std::move(empty)).first;
    }
    MachineRoom& room = found->second;
    const TaskGroup& group = groups[static_cast<std::size_t>(share.group)];
    if (!machines_.clear_for(group, share.machine.index(), start, start + option.duration)) {
      return false;
    }
    if (spread.most_on(share.machine) < share.tasks) return false;
    spread.add(share.machine, share.tasks);
    if (places.most_on(share.machine.index(), group) < share.tasks) return false;
    places.add(share.machine.index(), group, share.tasks);
    if (room.room.tasks_of(group, share.tasks) < share.tasks) return false;
    if (group.milli > 0) {
      const Gpus each = problem_.machines[share.machine.index()].share_taken(group.milli);
      const bool taken =
          share.lane >= 0 &&
          room.shared->take_share_of(static_cast<std::size_t>(share.lane), share.tasks * each);
      if (!taken) return false;
      room.room.gpus = room.shared->free_gpus();
    } else if (room.shared) {
      room.shared->take_gpus(Gpus{share.tasks} * group.gpus);
    }
    room.room.take(group, share.tasks);
    return true;
  });
  return free && spread.complete() && places.carries(shares);
}

void MachineTimeline::reserve(const Option& option, PoolId pool_id, Seconds start,
                              std::vector<TaskShare>& shares) {
  PoolState& pool = pools_[pool_id.index()];
  const std::size_t before = shares.size();
  const auto nearest = nearest_in_time(pool, option, start, start, 0.0);
  const bool assigned = (nearest && assign_tasks(pool, {nearest->machine, nearest->machine + 1},
                                                 option, start, shares)) ||
                        for_each_domain(pool, option, [&](const MachineRange& range) {
                          return assign_tasks(pool, range, option, start, shares);
                        });
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
