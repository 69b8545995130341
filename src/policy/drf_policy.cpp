// SPDX-License-Identifier: Apache-2.0
#include "drf_policy.hpp"

#include <algorithm>

namespace berth::policy {
namespace {

/// Number of the job's user: 0 without a queue.
std::size_t user_of(const State& state, JobId job) {
  const QueueId queue = state.job(job).queue;
  return queue.valid() ? queue.index() + 1 : 0;
}

}  // namespace

void DominantResourceFairness::count_totals(const model::Cluster& cluster) {
  counted_ = true;
  std::array<bool, model::kResources> limited{};
  limited.fill(true);
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const model::MachineClass& equipment = cluster.class_of(MachineId(m));
    totals_[0] += model::kGpuMilli * equipment.gpus;
    for (std::size_t r = 0; r < model::kResources; ++r) {
      limited[r] = limited[r] && equipment.capacity[r] != model::kNoLimit;
      if (limited[r]) totals_[r + 1] += equipment.capacity[r];
    }
  }
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (!limited[r]) totals_[r + 1] = 0;
  }
}

void DominantResourceFairness::add(const Demand& demand, Amounts& amounts) {
  amounts[0] += demand.milli;
  for (const DemandGroup& group : demand.groups) {
    for (std::size_t r = 0; r < model::kResources; ++r) {
      amounts[r + 1] += group.count * group.shape.needs[r];
    }
  }
}

double DominantResourceFairness::dominant_share(const Amounts& used) const {
  double share = 0.0;
  for (std::size_t r = 0; r < used.size(); ++r) {
    if (totals_[r] == 0) continue;
    share = std::max(share, static_cast<double>(used[r]) / static_cast<double>(totals_[r]));
  }
  return share;
}

void DominantResourceFairness::count_users(const State& state) {
  users_.clear();
  const auto user = [&](JobId job) -> User& {
    const std::size_t number = user_of(state, job);
    if (users_.size() <= number) users_.resize(number + 1);
    return users_[number];
  };
  const auto entries = waiting_.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    User& of = user(entries[i].job);
    if (of.end == 0) of.next = i;
    of.end = i + 1;
  }
  for (const JobId job : state.running()) add(state.demand(job), user(job).used);
  for (User& of : users_) of.share = dominant_share(of.used);
}

/// Starts the first of the user's jobs that fits; false when none does.
bool DominantResourceFairness::start_next(State& state, User& user) {
  while (user.next < user.end) {
    const JobId job = waiting_.entries()[user.next++].job;
    if (!state.start(job)) continue;  // nor will it later in this decision
    add(state.demand(job), user.used);
    user.share = dominant_share(user.used);
    return true;
  }
  return false;
}

void DominantResourceFairness::decide(State& state) {
  if (!counted_) count_totals(state.free().cluster());
  for (const JobId job : state.arrived()) {
    const auto user = static_cast<double>(user_of(state, job));
    waiting_.insert({user, state.job(job).arrival, job});
  }
  if (waiting_.empty() || !state.any_may_fit()) return;
  count_users(state);
  std::vector<User*> open;
  for (User& user : users_) {
    if (user.next < user.end) open.push_back(&user);
  }
  while (!open.empty()) {
    const auto least = std::ranges::min_element(open, {}, &User::share);
    if (!start_next(state, **least)) open.erase(least);
  }
  waiting_.drop_started(state);
}

}  // namespace berth::policy
