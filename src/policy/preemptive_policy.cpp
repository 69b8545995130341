// SPDX-License-Identifier: Apache-2.0
#include "preemptive_policy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace berth::policy {

void PreemptivePolicy::decide(State& state) {
  for (const JobId job : state.arrived()) waiting_.insert(entry_of(state, job));
  bool sorted = false;
  for (std::size_t i = 0; i < waiting_.entries().size(); ++i) {
    const WaitingEntry entry = waiting_.entries()[i];
    if (state.start(entry.job)) continue;
    if (!sorted) sort_running(state);
    sorted = true;
    const bool none_larger = running_.empty() || running_.front().key <= entry.key;
    if (none_larger && !state.any_may_fit()) break;
    std::uint8_t& hopeless = hopeless_[state.job(entry.job).demand];
    if (none_larger || hopeless != 0) continue;
    // Later jobs may stop fewer; but others of the demand may need no license or quota.
    if (!displace(state, entry) && state.within_limits(entry.job)) hopeless = 1;
  }
  waiting_.drop_started(state);
  after(state);
}

/// Running jobs that a decision may stop.
void PreemptivePolicy::sort_running(const State& state) {
  running_.clear();
  for (const JobId job : state.running()) {
    if (!state.job(job).preemptible || state.progress(job).since == state.now()) continue;
    running_.push_back(entry_of(state, job));
  }
  std::ranges::sort(running_, std::greater<>{});
  hopeless_.assign(state.demands().size(), 0);
}

/// False when even all running jobs of larger keys have too few GPUs.
bool PreemptivePolicy::may_displace(const State& state, const WaitingEntry& entry) const {
  const Demand& demand = state.demand(entry.job);
  std::int64_t milli = 0;
  for (const GpuTypeId type : demand.types) milli += state.free().free_milli(type);
  for (const WaitingEntry& running : running_) {
    if (milli >= demand.milli || running.key <= entry.key) break;
    const Progress& progress = state.progress(running.job);
    if (progress.phase != Phase::running || progress.stopped) continue;
    milli += state.demand(running.job).milli;
  }
  return milli >= demand.milli;
}

/// Starts the job in place of running jobs of larger keys; false, and nothing changed, when it does
/// not fit without all of them.
bool PreemptivePolicy::displace(State& state, const WaitingEntry& entry) {
  if (!may_displace(state, entry)) return false;
  const Demand& demand = state.demand(entry.job);
  victims_.clear();
  bool started = false;
  for (const WaitingEntry& running : running_) {
    if (started || running.key <= entry.key) break;
    const Progress& progress = state.progress(running.job);
    if (progress.phase != Phase::running || progress.since == state.now()) continue;
    if (std::ranges::find(demand.types, progress.type) == demand.types.end()) continue;
    state.stop(running.job);
    victims_.push_back(running.job);
    started = state.start(entry.job);
  }
  for (auto victim = victims_.rbegin(); victim != victims_.rend(); ++victim) {
    if (!state.undo_stop(*victim)) waiting_.insert(entry_of(state, *victim));
  }
  return started;
}

double Srtf::key(const State& state, JobId job) const {
  return static_cast<double>(state.remaining(job)) / state.demand(job).speeds.front();
}

double Srsf::key(const State& state, JobId job) const {
  const Demand& demand = state.demand(job);
  return static_cast<double>(state.remaining(job)) / demand.speeds.front() * demand.gpus();
}

std::size_t Las::queue_of(const State& state, JobId job) const {
  const double attained = static_cast<double>(state.held(job)) * state.demand(job).gpus() / kSecond;
  std::size_t queue = 0;
  while (queue < thresholds_.size() && attained >= static_cast<double>(thresholds_[queue])) ++queue;
  return queue;
}

double Las::key(const State& state, JobId job) const {
  return static_cast<double>(queue_of(state, job));
}

/// Wakes when the first running job enters its next queue.
void Las::after(State& state) {
  if (state.waiting() == 0) return;
  for (const JobId job : state.running()) {
    const std::size_t queue = queue_of(state, job);
    const double gpus = state.demand(job).gpus();
    if (queue == thresholds_.size() || gpus == 0.0) continue;
    const double held = static_cast<double>(thresholds_[queue]) * kSecond / gpus;
    const Micros left = static_cast<Micros>(std::ceil(held)) - state.held(job);
    state.wake_at(state.now() + std::max<Micros>(left, 1));
  }
}

}  // namespace berth::policy
