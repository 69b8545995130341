// SPDX-License-Identifier: Apache-2.0
#include "list_policy.hpp"

#include <algorithm>
#include <tuple>

namespace berth::policy {

void WaitingList::insert(const WaitingEntry& entry) {
  if (first_ > 1024 && first_ > entries_.size() / 2) {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
  if (entries_.size() == first_ || entries_.back() < entry) {
    entries_.push_back(entry);
  } else {
    entries_.insert(std::upper_bound(begin, entries_.end(), entry), entry);
  }
}

void WaitingList::drop_started(const State& state) {
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
  entries_.erase(std::remove_if(begin, entries_.end(),
                                [&](const WaitingEntry& entry) {
                                  return state.progress(entry.job).phase != Phase::waiting;
                                }),
                 entries_.end());
}

void ListPolicy::decide(State& state) {
  for (const JobId job : state.arrived()) {
    waiting_.insert({key_(state, job), state.job(job).arrival, job});
  }
  while (!waiting_.empty() && state.start(waiting_.entries().front().job)) waiting_.pop_front();
  if (waiting_.entries().size() < 2 || behind_ == PassRule::wait) return;
  const std::size_t before = state.running().size();
  if (behind_ == PassRule::backfill) {
    backfill(state);
  } else {
    for (const auto& entry : waiting_.entries()) {
      if (!state.start(entry.job) && !state.any_may_fit()) break;
    }
  }
  if (state.running().size() != before) waiting_.drop_started(state);
}

namespace {

/// When and where the first job is expected to start: the first moment at which enough running jobs
/// have ended (the shadow time of EASY), and devices that are free then.
struct Shadow {
  Micros time = kNever;
  std::vector<model::TaskPlacement> tasks = {};
};

bool place_on_any(FreeMachines& machines, const Demand& demand,
                  std::vector<model::TaskPlacement>& tasks) {
  return std::ranges::any_of(demand.types,
                             [&](GpuTypeId type) { return machines.place(demand, type, tasks); });
}

Shadow shadow_of(const State& state, JobId head) {
  std::vector<std::pair<Micros, JobId>> ends;
  for (const JobId job : state.running()) ends.emplace_back(state.expected_end(job), job);
  std::ranges::sort(ends);
  FreeMachines machines = state.free();
  Shadow shadow;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    machines.release(state.demand(ends[i].second), state.progress(ends[i].second).tasks);
    if (i + 1 < ends.size() && ends[i + 1].first == ends[i].first) continue;
    if (!place_on_any(machines, state.demand(head), shadow.tasks)) continue;
    shadow.time = ends[i].first;
    break;
  }
  return shadow;
}

}  // namespace

void ListPolicy::backfill(State& state) const {
  if (!state.any_may_fit()) return;
  const auto queue = waiting_.entries();
  const Shadow shadow = shadow_of(state, queue.front().job);
  for (const auto& entry : queue.subspan(1)) {
    const bool started = state.start_if(entry.job, [&](GpuTypeId type, const auto&) {
      return state.now() + state.expected_run(entry.job, type) <= shadow.time;
    });
    if (!started) (void)state.start_beside(entry.job, shadow.tasks);
  }
}

}  // namespace berth::policy
