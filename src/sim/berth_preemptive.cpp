// SPDX-License-Identifier: Apache-2.0
#include "berth_preemptive.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace berth::sim {
namespace {

using policy::Micros;
using policy::Phase;
using policy::State;

bool has_choice(const policy::Demand& demand) { return demand.types.size() > 1; }

}  // namespace

void BerthPreemptive::decide(State& state) {
  note_changes(state);
  complete_ = state.now() - last_ >= options_.spacing;
  if (complete_) {
    share_cluster(state);
  } else {
    start_on_idle(state);
  }
  ask_to_be_woken(state);
}

void BerthPreemptive::note_changes(const State& state) {
  changed_ =
      changed_ || !state.arrived().empty() || !state.ended().empty() || state.machines_changed();
  standing_.resize(state.size(), Standing::absent);
  if (last_ == -policy::kNever && present_.empty()) {  // these ran when the simulation began
    for (const JobId job : state.running()) {
      present_.push_back(job);
      standing_[job.index()] = Standing::served_later;
    }
  }
  for (const JobId job : state.arrived()) {  // a job whose machine failed is here already
    if (standing_[job.index()] == Standing::absent) present_.push_back(job);
    standing_[job.index()] = Standing::served_later;
  }
}

/// Between decisions, jobs that arrive start at once when nobody waits and there is room.
void BerthPreemptive::start_on_idle(State& state) {
  if (state.waiting() != std::ssize(state.arrived())) return;
  count_room(state);
  for (const JobId job : state.arrived()) {
    const GpuTypeId type = best_type(state, job);
    if (room_on(type) >= state.demand(job).milli && state.start(job, type)) {
      room_on(type) -= state.demand(job).milli;
    } else {
      (void)state.start(job);
      count_room(state);
    }
  }
}

void BerthPreemptive::ask_to_be_woken(State& state) const {
  if (state.waiting() == 0) return;
  Micros next = last_ + (changed_ ? options_.spacing : options_.refresh);
  if (!changed_) {
    for (const JobId job : state.running()) {
      const Micros until = order_.stays_until(state, job);
      if (until > state.now()) next = std::min(next, until);
    }
  }
  state.wake_at(std::max({next, last_ + options_.spacing, state.now() + 1}));
}

void BerthPreemptive::share_cluster(State& state) {
  std::erase_if(present_, [&](JobId job) { return state.progress(job).phase == Phase::ended; });
  ++counts_.decisions;
  last_ = state.now();
  changed_ = false;
  refresh_prices(state);
  count_room(state);
  choose_types(state);
  Displacement displacement(state, standing_);
  for (const Served& served : served_) serve(state, displacement, served);
  fill_idle(state);
}

/// Prices choose the type, so they are not asked for where no job has a choice.
void BerthPreemptive::refresh_prices(const State& state) {
  if (!std::ranges::any_of(state.demands(), has_choice)) return;
  if (!prices_.due(state, present_.size())) return;
  counts_.rounds.push_back(prices_.refresh(state, present_classes(state, present_)));
}

/// GPUs of each type now free.
void BerthPreemptive::count_room(const State& state) {
  const std::size_t types = state.free().cluster().gpu_types.size();
  room_.assign(types + 1, 0);
  for (std::size_t t = 0; t < types; ++t) room_[t] = state.free().free_milli(GpuTypeId(t));
}

/// Shares the GPUs that are free, or that decisions may free, over the jobs in order of their
/// index. Jobs for which nothing is left lose theirs when others need them.
void BerthPreemptive::choose_types(const State& state) {
  queue_ = order_.index(state, present_);
  std::int64_t left = 0;
  for (const JobId job : state.running()) {
    standing_[job.index()] = order_.stays(state, job) ? Standing::stays : Standing::loses;
    if (standing_[job.index()] != Standing::stays) {
      room_on(state.progress(job).type) += state.demand(job).milli;
    }
  }
  for (const std::int64_t room : room_) left += room;
  movable_ = static_cast<std::int64_t>(options_.move_share * static_cast<double>(left));
  held_ = false;
  served_.clear();
  losers_.clear();
  std::ranges::make_heap(queue_, std::greater<>{});
  while (!queue_.empty() && left > 0) {
    std::ranges::pop_heap(queue_, std::greater<>{});
    const JobId job = queue_.back().job;
    const GpuTypeId type = best_type(state, job);
    const std::int64_t milli = state.demand(job).milli;
    if (room_on(type) < milli) {
      losers_.push_back(queue_.back());
      if (!ServiceIndex::comes_first(queue_.back())) {
        queue_.pop_back();
        continue;
      }
      left -= room_on(type);  // kept for it while jobs that may not be stopped yet run on
      room_on(type) = 0;
      held_ = true;
    } else {
      room_on(type) -= milli;
      left -= milli;
      standing_[job.index()] = Standing::served_later;
      served_.push_back({job, type, ServiceIndex::comes_first(queue_.back())});
    }
    queue_.pop_back();
  }
}

/// Weighted seconds: the time left on the type, and what its GPUs cost others meanwhile.
double BerthPreemptive::cost_on(const State& state, JobId job, GpuTypeId type) const {
  const policy::Progress& progress = state.progress(job);
  const policy::Job& known = state.job(job);
  const policy::Demand& demand = state.demand(job);
  const bool keeps = runs(state, job) && progress.type == type;
  const double work = static_cast<double>(state.remaining(job)) / demand.speed_on(type);
  const Micros restart = runs(state, job) ? known.move_cost : known.restart_cost;
  const bool restarts = !keeps && progress.runs > 0;
  const double overhead = restarts ? static_cast<double>(restart) : 0.0;
  const double seconds = (work + overhead) / static_cast<double>(policy::kSecond);
  return known.weight * seconds + demand.gpus() * prices_.rent(type, state.now(), 0.0, seconds);
}

/// The cheapest type with room; the fastest one when none has.
GpuTypeId BerthPreemptive::best_type(const State& state, JobId job) const {
  const policy::Demand& demand = state.demand(job);
  if (!has_choice(demand)) return demand.types.front();
  GpuTypeId best = demand.types.front();
  double least = std::numeric_limits<double>::infinity();
  for (const GpuTypeId type : demand.types) {
    if (room_on(type) < demand.milli) continue;
    const double cost = cost_on(state, job, type);
    if (cost >= least) continue;
    least = cost;
    best = type;
  }
  return best;
}

void BerthPreemptive::serve(State& state, Displacement& displacement, const Served& served) {
  const policy::Progress& progress = state.progress(served.job);
  if (runs(state, served.job) && progress.type != served.type) {
    move(state, displacement, served);
  } else if (!runs(state, served.job)) {
    bool started = progress.stopped && progress.type == served.type && state.undo_stop(served.job);
    if (!started) started = displacement.start(served.job, served.type);
    for (const GpuTypeId type : state.demand(served.job).types) {
      if (started) break;
      if (type != served.type) started = displacement.start(served.job, type);
    }
    held_ = held_ || (served.first && !started);
  }
  standing_[served.job.index()] = Standing::stays;
}

/// To another type, as long as the decision may move GPUs; else the job stays where it runs. The
/// last move may exceed what is left: a gang wider than all of it would never move.
void BerthPreemptive::move(State& state, Displacement& displacement, const Served& served) {
  const std::int64_t milli = state.demand(served.job).milli;
  if (movable_ <= 0) return;
  state.stop(served.job);
  if (displacement.start(served.job, served.type)) {
    movable_ -= milli;
    ++counts_.moves;
    displacement.forget_failures();
  } else {
    (void)state.undo_stop(served.job);
  }
}

/// Jobs of any index start on what is still idle.
void BerthPreemptive::fill_idle(State& state) {
  if (held_ || !state.any_may_fit()) return;
  for (const Served& served : served_) {
    if (!runs(state, served.job)) (void)state.start(served.job);
  }
  queue_.insert(queue_.end(), losers_.begin(), losers_.end());
  std::ranges::sort(queue_);
  for (const IndexedJob& waiting : queue_) {
    if (runs(state, waiting.job)) continue;
    if (!state.start(waiting.job) && !state.any_may_fit()) break;
  }
}

}  // namespace berth::sim
