// SPDX-License-Identifier: Apache-2.0
#include "rate_book.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace berth::sim {
namespace {

speed::RunningJob described(const WorldSpeeds& speeds, const policy::State& state, JobId job,
                            std::span<const speed::MachineTasks> machines) {
  const policy::Progress& p = state.progress(job);
  const bool elastic = state.job(job).elastic;
  return {.job = job,
          .gpu_type = p.type,
          .machines = machines,
          .configuration = elastic ? static_cast<std::int32_t>(p.last.configuration) : -1,
          .batch = p.last.batch > 0 ? p.last.batch : speeds.batch_of(job),
          .work = static_cast<double>(state.done(job)) / static_cast<double>(policy::kSecond)};
}

}  // namespace

void RateBook::start(const policy::State& state, JobId job) {
  RunningTasks tasks{.machines = speeds_.machines_of(job, state.progress(job).tasks), .keys = {}};
  if (speeds_.model().coupled()) {
    speeds_.model().shared(described(speeds_, state, job, tasks.machines), tasks.keys);
    std::ranges::sort(tasks.keys);
    const auto rest = std::ranges::unique(tasks.keys);
    tasks.keys.erase(rest.begin(), rest.end());
    for (const std::uint64_t key : tasks.keys) users_[key].push_back(job);
  }
  running_.insert_or_assign(job.value(), std::move(tasks));
  changed_.push_back(job);
}

void RateBook::leave(JobId job) {
  const auto at = running_.find(job.value());
  if (at == running_.end()) return;
  for (const std::uint64_t key : at->second.keys) {
    std::vector<JobId>& users = users_[key];
    std::erase(users, job);
    if (users.empty()) {
      users_.erase(key);
    } else {
      freed_.push_back(key);
    }
  }
  running_.erase(at);
}

/// Adds the jobs that are joined to these, and to jobs that have left, by common keys.
void RateBook::add_joined(std::vector<JobId>& jobs) {
  std::unordered_set<std::int32_t> seen;
  std::unordered_set<std::uint64_t> followed;
  for (const JobId job : jobs) seen.insert(job.value());
  const auto follow = [&](std::uint64_t key) {
    if (!followed.insert(key).second) return;
    const auto users = users_.find(key);
    if (users == users_.end()) return;
    for (const JobId user : users->second) {
      if (seen.insert(user.value()).second) jobs.push_back(user);
    }
  };
  for (const std::uint64_t key : freed_) follow(key);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const std::uint64_t key : running_.at(jobs[i].value()).keys) follow(key);
  }
}

std::vector<RateBook::JobRate> RateBook::update(const policy::State& state) {
  std::erase_if(changed_, [&](JobId job) { return !running_.contains(job.value()); });
  std::vector<JobId> jobs = std::exchange(changed_, {});
  std::ranges::sort(jobs);
  const auto rest = std::ranges::unique(jobs);
  jobs.erase(rest.begin(), rest.end());
  if (speeds_.model().coupled()) add_joined(jobs);
  freed_.clear();
  if (jobs.empty()) return {};
  std::ranges::sort(jobs);
  std::vector<speed::RunningJob> asked;
  for (const JobId job : jobs) {
    asked.push_back(described(speeds_, state, job, running_.at(job.value()).machines));
  }
  std::vector<speed::Rate> rates(asked.size());
  speeds_.model().rates(asked, rates);
  std::vector<JobRate> result;
  for (std::size_t i = 0; i < jobs.size(); ++i) result.push_back({jobs[i], rates[i]});
  return result;
}

}  // namespace berth::sim
