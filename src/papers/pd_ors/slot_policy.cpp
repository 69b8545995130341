// SPDX-License-Identifier: Apache-2.0
#include "slot_policy.hpp"

#include <algorithm>
#include <utility>

#include "berth/papers/pd_ors/distributed_slots.hpp"

namespace berth::papers {
namespace pd_ors {
namespace {

using policy::Phase;
using policy::State;

constexpr std::int32_t kUnits = 40;  ///< parts of a job's work

std::string_view name_of(SlotPolicy::Rule rule) {
  return rule == SlotPolicy::Rule::pd_ors ? "pd-ors" : "oasis";
}

/// The part of a schedule from this slot on.
JobSchedule rest_of(const JobSchedule& schedule, std::int32_t slot) {
  JobSchedule rest;
  for (const SlotShare& share : schedule) {
    if (share.slot >= slot) rest.push_back(share);
  }
  return rest;
}

}  // namespace

SlotPolicy::SlotPolicy(const PaperWorld& world, Rule rule) : world_(world), rule_(rule) {
  check_training_jobs(name_of(rule), world);
}

void SlotPolicy::begin(const State& state) {
  training_ =
      training_world(name_of(rule_), world_, state, state.slot() > 0 ? state.slot() : kSlot);
  schedules_.resize(state.size());
  const SlotInstance& instance = training_.instance;
  const std::size_t half = instance.machines() / 2;
  PriceRange range;
  if (rule_ == Rule::pd_ors) {
    solver_ = std::make_unique<DistributedSlots>(DistributedOptions{.seed = world_.seed});
    range = pd_ors_prices(instance);
  } else {
    solver_ = std::make_unique<SeparateSlots>(half);
    range = oasis_prices(instance, half);
  }
  admission_.emplace(instance, std::move(range), *solver_, kUnits);
}

void SlotPolicy::admit(State& state, JobId id) {
  const TrainingJob& job = training_.instance.jobs[id.index()];
  const std::int64_t next = (state.now() + training_.slot - 1) / training_.slot;
  const auto from = static_cast<std::int32_t>(next - training_.first_slot);
  Admission decided = admission_->arrive(job, std::max(job.arrival, from));
  if (decided.schedule.empty()) return state.refuse(id);
  schedules_[id.index()] = std::move(decided.schedule);
  admitted_.push_back(id);
}

const SlotShare* SlotPolicy::booked(JobId id, std::int32_t slot) const {
  const JobSchedule& schedule = schedules_[id.index()];
  const auto at = std::ranges::lower_bound(schedule, slot, {}, &SlotShare::slot);
  return at != schedule.end() && at->slot == slot ? &*at : nullptr;
}

bool SlotPolicy::holds(const State& state, JobId id, const SlotShare& share) const {
  const TrainingWorld::Choices& choices = training_.choices[id.index()];
  std::vector<MachineShare> held;
  for (const MachineShare& machine : share.machines) held.push_back({machine.machine, 0, 0});
  for (const model::TaskPlacement& task : state.progress(id).tasks) {
    const auto at = std::ranges::find(held, static_cast<std::uint32_t>(task.machine.index()),
                                      &MachineShare::machine);
    if (at == held.end()) return false;
    ++(task.group == choices.workers ? at->workers : at->servers);
  }
  return held == share.machines;
}

/// On the machines that are booked, on devices that are free; false: they are not.
bool SlotPolicy::start(State& state, JobId id, const SlotShare& share) const {
  const TrainingWorld::Choices& choices = training_.choices[id.index()];
  if (state.job(id).elastic) state.choose(id, choices.by_crew.at(share.workers()));
  std::vector<model::TaskPlacement> tasks;
  for (const MachineShare& here : share.machines) {
    const MachineId machine(static_cast<std::int32_t>(here.machine));
    model::FreeMachine room = state.free().machine(machine);
    for (const policy::DemandGroup& group : state.demand(id).groups) {
      std::int32_t count = group.group == choices.workers ? here.workers : here.servers;
      for (; count > 0; --count) {
        if (!room.fits(group.shape)) return false;
        tasks.push_back(room.choose(machine, group.group, group.shape));
        room.take(tasks.back(), group.shape);
      }
    }
  }
  std::ranges::sort(tasks);
  return state.start_on(id, state.demand(id).types.front(), tasks);
}

/// Where room is left, with the largest crew that fits.
void SlotPolicy::run_on(State& state, JobId id) const {
  if (state.progress(id).stopped && state.undo_stop(id)) return;
  const auto& by_crew = training_.choices[id.index()].by_crew;
  for (auto crew = by_crew.rbegin(); crew != by_crew.rend(); ++crew) {
    if (state.job(id).elastic) state.choose(id, crew->second);
    if (state.start(id)) return;
  }
}

void SlotPolicy::carry_out(State& state, std::int32_t slot) {
  for (const JobId id : admitted_) {
    if (state.progress(id).phase != Phase::running || !state.job(id).preemptible) continue;
    const SlotShare* share = booked(id, slot);
    if (share == nullptr || !holds(state, id, *share)) state.stop(id);
  }
  std::vector<JobId> behind;
  for (const JobId id : admitted_) {
    if (state.progress(id).phase != Phase::waiting) continue;
    const SlotShare* share = booked(id, slot);
    if (share != nullptr && start(state, id, *share)) continue;
    if (share != nullptr || schedules_[id.index()].back().slot < slot) behind.push_back(id);
  }
  for (const JobId id : behind) run_on(state, id);
}

void SlotPolicy::decide(State& state) {
  if (!admission_) begin(state);
  const std::int64_t absolute = state.now() / training_.slot;
  const auto slot = static_cast<std::int32_t>(absolute - training_.first_slot);
  for (const JobId id : state.ended()) {
    admission_->give_back(training_.instance.jobs[id.index()],
                          rest_of(schedules_[id.index()], slot + 1));
    std::erase(admitted_, id);
  }
  for (const JobId id : state.arrived()) {
    if (schedules_[id.index()].empty()) admit(state, id);  // else a machine failed under it
  }
  if (absolute * training_.slot == state.now()) carry_out(state, slot);
  if (!admitted_.empty()) state.wake_at((absolute + 1) * training_.slot);
}

}  // namespace pd_ors

std::unique_ptr<policy::Policy> make_pd_ors(const PaperWorld& world) {
  return std::make_unique<pd_ors::SlotPolicy>(world, pd_ors::SlotPolicy::Rule::pd_ors);
}

std::unique_ptr<policy::Policy> make_oasis(const PaperWorld& world) {
  return std::make_unique<pd_ors::SlotPolicy>(world, pd_ors::SlotPolicy::Rule::oasis);
}

}  // namespace berth::papers
