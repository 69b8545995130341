// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::policy {
namespace {

/// Work of a run of this length. Rounded down: no job has done more than the clock allows.
Micros work_of(Micros length, double speed) {
  if (length <= 0) return 0;
  if (speed == 1.0) return length;
  return static_cast<Micros>(std::floor(static_cast<double>(length) * speed));
}

/// Microseconds that the work takes, rounded up.
Micros run_length(Micros work, double speed) {
  if (speed == 1.0) return work;
  return static_cast<Micros>(std::ceil(static_cast<double>(work) / speed));
}

/// Of work done, what a stop loses: that behind the last checkpoint.
Micros lost(const Job& job, Micros done) {
  if (job.checkpoint_every == 0) return 0;
  return job.checkpoint_every >= kNever ? done : done % job.checkpoint_every;
}

}  // namespace

State::State(const model::Cluster& cluster, std::vector<Demand> demands, std::vector<Job> jobs)
    : demands_(std::move(demands)),
      jobs_(std::move(jobs)),
      progress_(jobs_.size()),
      free_(cluster),
      place_in_running_(jobs_.size()),
      waiting_by_demand_(demands_.size()),
      failed_(demands_.size()) {}

Micros State::done(JobId id) const {
  const Progress& p = progress(id);
  if (p.phase != Phase::running && !p.stopped) return p.done;
  const Micros done = p.done + work_of(now_ - p.since - p.overhead, p.speed);
  return p.stopped ? done - lost(job(id), done) : done;
}

Micros State::held(JobId id) const {
  const Progress& p = progress(id);
  return p.phase == Phase::running || p.stopped ? p.held + now_ - p.since : p.held;
}

Micros State::remaining(JobId id) const {
  const Micros left = job(id).estimate - done(id);
  return left > 0 ? left : kOverdue;
}

Micros State::expected_end(JobId id) const {
  const Progress& p = progress(id);
  const Micros overhead_left = std::max<Micros>(0, p.since + p.overhead - now_);
  return now_ + overhead_left + run_length(remaining(id), p.speed);
}

Micros State::expected_run(JobId id, GpuTypeId type) const {
  const Micros overhead = progress(id).runs > 0 ? job(id).restart_cost : 0;
  return overhead + run_length(remaining(id), demand(id).speed_on(type));
}

bool State::start(JobId id) {
  return start_if(id, [](GpuTypeId, std::span<const model::TaskPlacement>) { return true; });
}

bool State::start_on(JobId id, GpuTypeId type, std::span<const model::TaskPlacement> tasks) {
  if (!free_.take_again(demand(id), tasks)) return false;
  trial_.assign(tasks.begin(), tasks.end());
  return begin(id, type);
}

bool State::start_beside(JobId id, std::span<const model::TaskPlacement> kept) {
  const std::uint32_t index = job(id).demand;
  if (failed_[index] == released_) return false;
  const FreeMachines::Kept held_back(free_, kept);
  for (const GpuTypeId type : demands_[index].types) {
    if (free_.place(demands_[index], type, trial_)) return begin(id, type);
  }
  return false;
}

bool State::start(JobId id, GpuTypeId type) {
  return free_.place(demand(id), type, trial_) && begin(id, type);
}

bool State::fits(std::uint32_t index) {
  if (failed_[index] == released_) return false;
  for (const GpuTypeId type : demands_[index].types) {
    if (!free_.place(demands_[index], type, trial_)) continue;
    free_.release(demands_[index], trial_);
    return true;
  }
  failed_[index] = released_;
  return false;
}

/// @pre `trial_` has the tasks, whose devices are taken
bool State::begin(JobId id, GpuTypeId type) {
  Progress& p = progress_[id.index()];
  BERTH_EXPECT(p.phase == Phase::waiting);
  if (p.stopped) settle_stop(id);
  p.tasks = trial_;
  p.type = type;
  p.speed = demand(id).speed_on(type);
  p.since = now_;
  p.overhead = p.runs > 0 ? job(id).restart_cost : 0;
  ++p.runs;
  p.phase = Phase::running;
  --waiting_;
  --waiting_by_demand_[job(id).demand];
  place_in_running_[id.index()] = static_cast<std::uint32_t>(running_.size());
  running_.push_back(id);
  actions_.push_back({Action::Kind::start, id});
  return true;
}

bool State::any_may_fit() const {
  const std::int64_t free = free_.free_milli();
  for (std::size_t d = 0; d < demands_.size(); ++d) {
    if (waiting_by_demand_[d] > 0 && failed_[d] != released_ && demands_[d].milli <= free)
      return true;
  }
  return false;
}

void State::leave_running(JobId id) {
  const std::uint32_t place = place_in_running_[id.index()];
  BERTH_ASSERT(running_[place] == id);
  running_[place] = running_.back();
  place_in_running_[running_[place].index()] = place;
  running_.pop_back();
  free_.release(demand(id), progress(id).tasks);
  ++released_;
}

void State::stop(JobId id) {
  Progress& p = progress_[id.index()];
  BERTH_EXPECT(p.phase == Phase::running && !p.stopped && job(id).preemptible && p.since < now_);
  leave_running(id);
  p.phase = Phase::waiting;
  p.stopped = true;
  stopped_.push_back(id);
  ++waiting_;
  ++waiting_by_demand_[job(id).demand];
}

bool State::undo_stop(JobId id) {
  Progress& p = progress_[id.index()];
  BERTH_EXPECT(p.stopped);
  if (!free_.take_again(demand(id), p.tasks)) return false;
  p.stopped = false;
  p.phase = Phase::running;
  --waiting_;
  --waiting_by_demand_[job(id).demand];
  place_in_running_[id.index()] = static_cast<std::uint32_t>(running_.size());
  running_.push_back(id);
  std::erase(stopped_, id);
  return true;
}

/// The stop holds: what the run did is counted, and what lies behind its last checkpoint is lost.
void State::settle_stop(JobId id) {
  Progress& p = progress_[id.index()];
  close_run(id);
  p.done -= lost(job(id), p.done);
  p.stopped = false;
  actions_.push_back({Action::Kind::stop, id});
  std::erase(stopped_, id);
}

void State::close_run(JobId id) {
  Progress& p = progress_[id.index()];
  p.done += work_of(now_ - p.since - p.overhead, p.speed);
  p.held += now_ - p.since;
}

void State::wake_at(Micros time) {
  BERTH_EXPECT(time > now_);
  wake_ = std::min(wake_, time);
}

void State::arrive(JobId id) {
  BERTH_EXPECT(progress(id).phase == Phase::ahead);
  progress_[id.index()].phase = Phase::waiting;
  ++waiting_;
  ++waiting_by_demand_[job(id).demand];
  arrived_.push_back(id);
}

void State::end(JobId id) {
  Progress& p = progress_[id.index()];
  BERTH_EXPECT(p.phase == Phase::running);
  leave_running(id);
  close_run(id);
  p.phase = Phase::ended;
  p.tasks = {};
  ended_.push_back(id);
}

std::vector<Action> State::take_actions() {
  while (!stopped_.empty()) settle_stop(stopped_.front());
  arrived_.clear();
  ended_.clear();
  return std::exchange(actions_, {});
}

}  // namespace berth::policy
