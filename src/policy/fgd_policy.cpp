// SPDX-License-Identifier: Apache-2.0
#include "fgd_policy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace berth::policy {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{64} << 20;
constexpr std::size_t kMostSlots = 256;

/// True when a task may be on a machine with this type while the job's GPUs are of `type`.
bool may_use(GpuTypeId machine, GpuTypeId type, const model::Shape& shape) {
  return machine == type || (!shape.uses_gpu() && !machine.valid());
}

/// Hundredths of a logistic function of the GPUs by which fragmentation falls.
int score_of(double growth) { return static_cast<int>(100.0 / (1.0 + std::exp(growth / 1000.0))); }

}  // namespace

void Fgd::decide(State& state) {
  if (slots_ == 0) prepare(state);
  for (const JobId job : state.arrived()) waiting_.insert({0.0, state.job(job).arrival, job});
  while (!waiting_.empty() && start(state, waiting_.entries().front().job)) waiting_.pop_front();
  if (waiting_.entries().size() < 2) return;
  for (const auto& entry : waiting_.entries()) {
    if (!start(state, entry.job) && !state.any_may_fit()) break;
  }
  waiting_.drop_started(state);
}

void Fgd::prepare(const State& state) {
  for (const Demand& demand : state.demands()) {
    for (const DemandGroup& group : demand.groups) shapes_.push_back(group.shape);
  }
  std::ranges::sort(shapes_);
  const auto repeated = std::ranges::unique(shapes_);
  shapes_.erase(repeated.begin(), repeated.end());
  const std::size_t machines = state.free().cluster().machines();
  const std::size_t room = kCacheBytes / sizeof(CachedGrowth) / std::max<std::size_t>(machines, 1);
  const std::size_t wanted = std::bit_ceil(std::max<std::size_t>(shapes_.size(), 1));
  slots_ = std::clamp<std::size_t>(std::bit_floor(room), 1, std::min(wanted, kMostSlots));
  cache_.assign(machines * slots_, CachedGrowth{});
  edited_at_.assign(machines, -1);
  std::vector<std::int64_t> jobs(state.demands().size());
  for (std::size_t j = 0; j < state.size(); ++j) ++jobs[state.job(JobId(j)).demand];
  typical_ = typical_tasks(state.demands(), jobs);
  const NameTable& names = state.free().cluster().machine_names;
  std::vector<std::size_t> order(machines);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t m) { return names[m]; });
  name_rank_.resize(machines);
  for (std::size_t i = 0; i < machines; ++i) name_rank_[order[i]] = static_cast<std::uint32_t>(i);
}

/// True when the growth is less, as far as scores tell it, or the machine's name on a tie.
bool Fgd::precedes(double growth, std::size_t machine, double other,
                   std::size_t other_machine) const {
  const int score = score_of(growth), other_score = score_of(other);
  if (score != other_score) return score > other_score;
  return name_rank_[machine] < name_rank_[other_machine];
}

bool Fgd::start(State& state, JobId job) {
  if (!state.within_limits(job) || !state.fits(state.demand_index(job))) return false;
  const Demand& demand = state.demand(job);
  if (demand.domain != model::Level::cluster || demand.rules != 0) return state.start(job);
  Trial best, trial;
  GpuTypeId type;
  bool found = false;
  for (const GpuTypeId candidate : demand.types) {
    if (!place(state, demand, candidate, trial)) continue;
    if (found && !precedes(trial.growth, trial.tasks.front().machine.index(), best.growth,
                           best.tasks.front().machine.index())) {
      continue;
    }
    std::swap(best, trial);
    type = candidate;
    found = true;
  }
  return (found && state.start_on(job, type, best.tasks)) || state.start(job);
}

/// Finds room for all tasks of a job on machines of the type; changes only what the trial has.
bool Fgd::place(const State& state, const Demand& demand, GpuTypeId type, Trial& trial) {
  trial.tasks.clear();
  trial.growth = 0.0;
  bool placed = !demand.groups.empty() && demand.milli <= state.free().free_milli(type);
  for (const DemandGroup& group : demand.groups) {
    for (std::int32_t task = 0; task < group.count && placed; ++task) {
      placed = place_task(state, demand, group, type, trial);
    }
  }
  for (const model::TaskPlacement& task : trial.tasks) edited_at_[task.machine.index()] = -1;
  edited_.clear();
  return placed;
}

bool Fgd::place_task(const State& state, const Demand& demand, const DemandGroup& group,
                     GpuTypeId type, Trial& trial) {
  const FreeMachines& free = state.free();
  const model::Cluster& cluster = free.cluster();
  Growth best;
  std::size_t at = 0;
  for (std::size_t m = 0; m < edited_at_.size(); ++m) {
    const GpuTypeId here = cluster.class_of(MachineId(m)).gpu_type;
    if (!may_use(here, type, group.shape) || !free.admits(MachineId(m), demand)) continue;
    const Growth growth =
        edited_at_[m] < 0
            ? cached(free, m, group.shape)
            : growth_on(edited_[static_cast<std::size_t>(edited_at_[m])], here, group.shape);
    if (!growth.fits || (best.fits && !precedes(growth.milli, m, best.milli, at))) continue;
    best = growth;
    at = m;
  }
  if (!best.fits) return false;
  if (edited_at_[at] < 0) {
    edited_at_[at] = static_cast<std::int32_t>(edited_.size());
    edited_.push_back(free.machine(MachineId(at)));
  }
  const model::TaskPlacement task{
      .machine = MachineId(at), .group = group.group, .devices = best.devices, .milli = best.taken};
  edited_[static_cast<std::size_t>(edited_at_[at])].take(task, group.shape);
  trial.tasks.push_back(task);
  trial.growth += best.milli;
  return true;
}

/// The least growth over the devices that a share may take; other tasks have no choice.
Fgd::Growth Fgd::growth_on(const model::FreeMachine& machine, GpuTypeId type,
                           const model::Shape& shape) const {
  Growth best;
  if (!machine.fits(shape)) return best;
  const double before = fragmentation(machine, type, typical_);
  model::TaskPlacement task = machine.choose(MachineId(0), 0, shape);
  const auto devices = machine.devices();
  const bool shares = shape.gpus == 0 && shape.gpu_milli > 0;
  for (std::size_t d = 0; d < (shares ? devices.size() : 1); ++d) {
    if (shares) {
      const auto earlier = devices.first(d);  // a device as free as an earlier one is the same
      if (devices[d] < task.milli || std::ranges::find(earlier, devices[d]) != earlier.end())
        continue;
      task.devices = std::uint64_t{1} << d;
    }
    model::FreeMachine after = machine;
    after.take(task, shape);
    const double growth = fragmentation(after, type, typical_) - before;
    if (best.fits && growth >= best.milli) continue;
    best = {.milli = growth, .devices = task.devices, .taken = task.milli, .fits = true};
  }
  return best;
}

const Fgd::Growth& Fgd::cached(const FreeMachines& free, std::size_t machine,
                               const model::Shape& shape) {
  const auto number =
      static_cast<std::uint32_t>(std::ranges::lower_bound(shapes_, shape) - shapes_.begin());
  const MachineId id(machine);
  CachedGrowth& entry = cache_[machine * slots_ + number % slots_];
  if (entry.shape != number || entry.changes != free.changes(id)) {
    entry = {.changes = free.changes(id),
             .shape = number,
             .growth = growth_on(free.machine(id), free.cluster().class_of(id).gpu_type, shape)};
  }
  return entry.growth;
}

}  // namespace berth::policy
