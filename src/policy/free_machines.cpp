// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/free_machines.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "berth/base/assert.hpp"

namespace berth::policy {

using model::FreeMachine;
using model::Level;
using model::TaskPlacement;

FreeMachines::FreeMachines(const model::Cluster& cluster)
    : cluster_(&cluster),
      changes_(cluster.machines()),
      row_of_(cluster.machines()),
      milli_(cluster.gpu_types.size() + 1),
      most_(milli_.size()) {
  const std::size_t machines = cluster.machines();
  std::vector<std::uint8_t> present(milli_.size());
  machines_.reserve(machines);
  for (std::size_t m = 0; m < machines; ++m) {
    const model::MachineClass& equipment = cluster.class_of(MachineId(m));
    machines_.emplace_back(cluster, MachineId(m));
    row_of_[m] = static_cast<std::uint8_t>(row(equipment.gpu_type));
    present[row_of_[m]] = 1;
    milli_[row_of_[m]] += machines_[m].milli();
    most_[row_of_[m]] = std::max(most_[row_of_[m]], equipment.gpus);
  }
  sets_.resize(milli_.size() * kSets);
  for (std::size_t r = 0; r < milli_.size(); ++r) {
    if (present[r] == 0) continue;
    for (std::size_t k = 0; k <= static_cast<std::size_t>(most_[r]); ++k) {
      set_of(r, k) = MachineSet(machines);
    }
    set_of(r, kPartly) = MachineSet(machines);
  }
  for (std::size_t m = 0; m < machines; ++m) {
    const auto whole = static_cast<std::size_t>(machines_[m].whole_count());
    set_of(row_of_[m], whole).insert(m);
    if (machines_[m].milli() > model::kGpuMilli * static_cast<std::int64_t>(whole)) {
      set_of(row_of_[m], kPartly).insert(m);
    }
  }
}

std::int64_t FreeMachines::free_milli() const {
  return std::accumulate(milli_.begin(), milli_.end(), std::int64_t{0});
}

bool FreeMachines::place(const Demand& demand, GpuTypeId type, std::vector<TaskPlacement>& tasks) {
  const std::size_t r = row(type);
  if (demand.milli > milli_[r]) return false;
  if (demand.domain == Level::cluster) return place_in(demand, r, {0, machines_.size()}, tasks);
  for (const Range range : domains(demand)) {
    if (place_in(demand, r, range, tasks)) return true;
  }
  return false;
}

/// Machines, racks or pods with enough free GPUs, the fullest first.
std::vector<FreeMachines::Range> FreeMachines::domains(const Demand& demand) const {
  struct RankedRange {
    std::int64_t free;
    Range range;
  };
  std::vector<RankedRange> candidates;
  std::int32_t last = -1;
  for (std::size_t m = 0; m < machines_.size(); ++m) {
    const MachineId id(m);
    const std::int32_t at = demand.domain == Level::machine ? id.value()
                            : demand.domain == Level::rack  ? cluster_->machine_rack[m].value()
                                                            : cluster_->pod_of(id).value();
    if (at != last) candidates.push_back({0, {m, m}});
    last = at;
    candidates.back().free += machines_[m].milli();
    candidates.back().range.end = m + 1;
  }
  std::erase_if(candidates, [&](const RankedRange& c) { return c.free < demand.milli; });
  std::ranges::stable_sort(candidates, {}, &RankedRange::free);
  std::vector<Range> ranges;
  for (const RankedRange& candidate : candidates) ranges.push_back(candidate.range);
  return ranges;
}

void FreeMachines::set_rules(const MachineRules& rules) {
  rules_ = rules.rows;
  guests_ = MachineGuests(machines_.size(), rules);
}

bool FreeMachines::place_in(const Demand& demand, std::size_t row, Range range,
                            std::vector<TaskPlacement>& tasks) {
  tasks.clear();
  Search search{.rules = demand.rules, .row = row, .range = range};
  bool placed = false;
  if (demand.rules == 0) {
    placed = place_groups(demand, search, tasks);
  } else {
    model::DomainTaskCounts counts(*cluster_, rules_[demand.rules], demand.tasks());
    if (counts.bind()) search.counts = &counts;
    placed = place_groups(demand, search, tasks);
  }
  if (placed) settle(demand.rules, tasks, +1);
  return placed;
}

/// Takes the devices of all tasks, or of none.
bool FreeMachines::place_groups(const Demand& demand, const Search& search,
                                std::vector<TaskPlacement>& tasks) {
  for (const DemandGroup& group : demand.groups) {
    if (place_group(group, search, tasks)) continue;
    edit_devices(demand, tasks, +1);
    return false;
  }
  return true;
}

bool FreeMachines::place_group(const DemandGroup& group, const Search& search,
                               std::vector<TaskPlacement>& tasks) {
  const model::Shape& shape = group.shape;
  for (std::int32_t left = group.count; left > 0;) {
    const std::size_t m = shape.gpus > 0        ? find_whole(group, search, left)
                          : shape.gpu_milli > 0 ? find_share(group, search)
                                                : find_any(group, search);
    if (m == MachineSet::kNone) return false;
    std::int64_t fit = shape.gpus > 0 ? room_for(shape, search, m, left) : 1;
    for (; fit > 0; --fit, --left) {
      const TaskPlacement task = machines_[m].choose(MachineId(m), group.group, shape);
      edit(task, shape, -1);
      if (search.counts != nullptr) search.counts->take(MachineId(m));
      tasks.push_back(task);
    }
  }
  return true;
}

/// Tasks of the shape that the machine holds and rules allow there, at most `limit`.
std::int64_t FreeMachines::room_for(const model::Shape& shape, const Search& search,
                                    std::size_t machine, std::int64_t limit) const {
  const MachineId id(machine);
  const std::int64_t fit = limit == 1 ? (machines_[machine].fits(shape) ? 1 : 0)
                                      : machines_[machine].count(shape, limit);
  if (fit == 0 || !guests_.admits(id, search.rules)) return 0;
  return search.counts == nullptr ? fit : search.counts->allowed(id, fit);
}

/// The fullest machine for `count` tasks, else the machine with the most free GPUs that holds one.
std::size_t FreeMachines::find_whole(const DemandGroup& group, const Search& search,
                                     std::int32_t count) {
  const std::int32_t most = most_[search.row];
  const std::int64_t all = std::int64_t{group.shape.gpus} * count;
  const auto [first, end] = search.range;
  for (std::int64_t free = all; free <= most; ++free) {
    const MachineSet& set = set_of(search.row, static_cast<std::size_t>(free));
    for (std::size_t m = set.next(first, end); m != MachineSet::kNone; m = set.next(m + 1, end)) {
      if (room_for(group.shape, search, m, count) == count) return m;
    }
  }
  for (std::int32_t free = most; free >= group.shape.gpus; --free) {
    const MachineSet& set = set_of(search.row, static_cast<std::size_t>(free));
    for (std::size_t m = set.next(first, end); m != MachineSet::kNone; m = set.next(m + 1, end)) {
      if (room_for(group.shape, search, m, 1) > 0) return m;
    }
  }
  return MachineSet::kNone;
}

/// The device with the least room that holds the share: partly taken ones first.
std::size_t FreeMachines::find_share(const DemandGroup& group, const Search& search) {
  const MachineSet& partly = set_of(search.row, kPartly);
  const auto [first, end] = search.range;
  std::size_t best = MachineSet::kNone;
  std::int32_t least = 0;
  for (std::size_t m = partly.next(first, end); m != MachineSet::kNone;
       m = partly.next(m + 1, end)) {
    if (room_for(group.shape, search, m, 1) == 0) continue;
    const TaskPlacement task = machines_[m].choose(MachineId(m), group.group, group.shape);
    const auto device = static_cast<std::size_t>(std::countr_zero(task.devices));
    const std::int32_t room = machines_[m].devices()[device];
    if (best != MachineSet::kNone && room >= least) continue;
    best = m;
    least = room;
  }
  if (best != MachineSet::kNone && least < model::kGpuMilli) return best;
  return find_fullest(group.shape, search, 1);
}

/// Machines without GPUs first, then those of the job's GPU type.
std::size_t FreeMachines::find_any(const DemandGroup& group, const Search& search) {
  Search without = search;
  without.row = row(GpuTypeId());
  const std::size_t m = find_fullest(group.shape, without, 0);
  return m != MachineSet::kNone ? m : find_fullest(group.shape, search, 0);
}

/// The machine with the fewest wholly free GPUs, at least `least`, that holds one task.
std::size_t FreeMachines::find_fullest(const model::Shape& shape, const Search& search,
                                       std::int32_t least) {
  const auto [first, end] = search.range;
  for (std::int32_t free = least; free <= most_[search.row]; ++free) {
    const MachineSet& set = set_of(search.row, static_cast<std::size_t>(free));
    for (std::size_t m = set.next(first, end); m != MachineSet::kNone; m = set.next(m + 1, end)) {
      if (room_for(shape, search, m, 1) > 0) return m;
    }
  }
  return MachineSet::kNone;
}

namespace {

/// A share without resources: edits count what the task has of devices.
constexpr model::Shape kOnlyDevices{.needs = {}, .gpus = 0, .gpu_milli = 1};

bool has_room(const FreeMachine& machine, const TaskPlacement& task, const model::Shape& shape) {
  if (!machine.is_up() || !shape.needs.within(machine.resources())) return false;
  for (std::uint64_t rest = task.devices; rest != 0; rest &= rest - 1) {
    const auto device = static_cast<std::size_t>(std::countr_zero(rest));
    if (machine.devices()[device] < task.milli) return false;
  }
  return true;
}

}  // namespace

std::vector<TaskPlacement> FreeMachines::take_free_devices(const Demand& demand,
                                                           std::span<const TaskPlacement> tasks) {
  settle(demand.rules, tasks, +1);
  std::vector<TaskPlacement> taken;
  for (TaskPlacement task : tasks) {
    const auto free = machine(task.machine).devices();
    for (std::uint64_t rest = task.devices; rest != 0; rest &= rest - 1) {
      const auto device = static_cast<std::size_t>(std::countr_zero(rest));
      if (free[device] < task.milli) task.devices &= ~(std::uint64_t{1} << device);
    }
    if (task.devices == 0) continue;
    edit(task, kOnlyDevices, -1);
    taken.push_back(task);
  }
  return taken;
}

FreeMachines::Kept::Kept(FreeMachines& machines, const Demand& demand,
                         std::span<const TaskPlacement> tasks)
    : machines_(machines),
      rules_(demand.rules),
      tasks_(tasks),
      taken_(machines.take_free_devices(demand, tasks)) {}

FreeMachines::Kept::~Kept() {
  for (const TaskPlacement& task : taken_) machines_.edit(task, kOnlyDevices, +1);
  machines_.settle(rules_, tasks_, -1);
}

bool FreeMachines::take_again(const Demand& demand, std::span<const TaskPlacement> tasks) {
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const model::Shape& shape = demand.shape_of(tasks[t]);
    if (has_room(machines_[tasks[t].machine.index()], tasks[t], shape) &&
        admits(tasks[t].machine, demand)) {
      edit(tasks[t], shape, -1);
      continue;
    }
    edit_devices(demand, tasks.first(t), +1);
    return false;
  }
  settle(demand.rules, tasks, +1);
  return true;
}

void FreeMachines::take(const Demand& demand, std::span<const TaskPlacement> tasks) {
  edit_devices(demand, tasks, -1);
  settle(demand.rules, tasks, +1);
}

void FreeMachines::release(const Demand& demand, std::span<const TaskPlacement> tasks) {
  edit_devices(demand, tasks, +1);
  settle(demand.rules, tasks, -1);
}

/// Takes what the tasks have of their machines, or returns it when the sign is +1.
void FreeMachines::edit_devices(const Demand& demand, std::span<const TaskPlacement> tasks,
                                int sign) {
  for (const TaskPlacement& task : tasks) edit(task, demand.shape_of(task), sign);
}

/// The job's rules hold on the machines of its tasks from now on, or no longer.
void FreeMachines::settle(std::uint32_t rules, std::span<const TaskPlacement> tasks, int sign) {
  if (!guests_.any()) return;
  for (const TaskPlacement& task : tasks) guests_.edit(task.machine, rules, sign);
}

void FreeMachines::close(MachineId machine) {
  FreeMachine closed = machines_[machine.index()];
  closed.close();
  replace(machine, closed);
}

void FreeMachines::open(MachineId machine) { replace(machine, FreeMachine(*cluster_, machine)); }

void FreeMachines::replace(MachineId machine, const FreeMachine& by) {
  const std::size_t m = machine.index(), r = row_of_[m];
  set_of(r, static_cast<std::size_t>(machines_[m].whole_count())).erase(m);
  set_of(r, kPartly).erase(m);
  milli_[r] += by.milli() - machines_[m].milli();
  ++changes_[m];
  machines_[m] = by;
  const auto whole = static_cast<std::size_t>(by.whole_count());
  set_of(r, whole).insert(m);
  if (by.milli() > model::kGpuMilli * static_cast<std::int64_t>(whole))
    set_of(r, kPartly).insert(m);
}

void FreeMachines::edit(const TaskPlacement& task, const model::Shape& shape, int sign) {
  const std::size_t m = task.machine.index();
  FreeMachine& machine = machines_[m];
  if (!machine.is_up()) return;  // a pinned job runs there: its devices are no room
  const std::size_t r = row_of_[m];
  const auto before = static_cast<std::size_t>(machine.whole_count());
  ++changes_[m];
  milli_[r] -= machine.milli();
  if (sign < 0) {
    machine.take(task, shape);
  } else {
    machine.release(task, shape);
  }
  milli_[r] += machine.milli();
  const auto after = static_cast<std::size_t>(machine.whole_count());
  if (after != before) {
    set_of(r, before).erase(m);
    set_of(r, after).insert(m);
  }
  if (shape.gpu_milli == 0) return;
  if (machine.milli() > model::kGpuMilli * static_cast<std::int64_t>(after)) {
    set_of(r, kPartly).insert(m);
  } else {
    set_of(r, kPartly).erase(m);
  }
}

}  // namespace berth::policy
