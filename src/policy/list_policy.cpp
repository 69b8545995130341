// SPDX-License-Identifier: Apache-2.0
#include "list_policy.hpp"

#include <algorithm>
#include <tuple>

#include "berth/policy/shadow.hpp"

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

void ListPolicy::backfill(State& state) const {
  if (!state.any_may_fit()) return;
  const auto queue = waiting_.entries();
  const Shadow shadow = shadow_of(state, queue.front().job, state.demand(queue.front().job).types);
  if (shadow.time < kNever) state.promise(queue.front().job, shadow.time);
  for (const auto& entry : queue.subspan(1)) {
    const bool started = state.start_if(entry.job, [&](GpuTypeId type, const auto&) {
      return state.now() + state.expected_run(entry.job, type) <= shadow.time;
    });
    if (!started) (void)state.start_beside(entry.job, queue.front().job, shadow.tasks);
  }
}

}  // namespace berth::policy
