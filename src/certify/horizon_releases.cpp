// SPDX-License-Identifier: Apache-2.0
#include "horizon_jobs.hpp"

#include <algorithm>
#include <vector>

#include "berth/certify/horizon_plan.hpp"

namespace berth::certify {
namespace {

/// Earliest end of a job of the problem; kNever when it cannot run.
std::int64_t least_end(const horizon::Problem& problem, const horizon::Job& job) {
  std::int64_t least = horizon::kNever;
  for (const horizon::Option& option : problem.options_of(job)) {
    least = std::min(least, job.release + option.duration);
  }
  return least;
}

}  // namespace

/// Kahn's order: a job is done when all that it waits for are.
void release_after_others(const model::InstanceView& instance, const model::Horizon& horizon,
                          BoundProblem& bound) {
  const auto& pairs = instance.workload.tables().dependencies;
  if (pairs.empty()) return;
  std::vector<std::size_t> position(instance.workload.size(), bound.jobs.size());
  for (std::size_t j = 0; j < bound.jobs.size(); ++j) position[bound.jobs[j].index()] = j;
  std::vector<model::Dependency> by_after(pairs.begin(), pairs.end());
  std::ranges::stable_sort(by_after, {}, &model::Dependency::after);
  std::vector<std::int64_t> waits_for(instance.workload.size(), 0);
  for (const model::Dependency& pair : pairs) ++waits_for[pair.job.index()];
  std::vector<JobId> ready;
  for (std::size_t j = 0; j < waits_for.size(); ++j) {
    if (waits_for[j] == 0) ready.emplace_back(j);
  }
  while (!ready.empty()) {
    const JobId done = ready.back();
    ready.pop_back();
    const model::Job& job = instance.workload.job(done);
    const std::size_t j = position[done.index()];
    const std::int64_t end = is_decided(instance, horizon, job)
                                 ? least_end(bound.problem, bound.problem.jobs[j])
                                 : end_of_running(instance, horizon, job);
    const auto first = std::ranges::lower_bound(by_after, done, {}, &model::Dependency::after);
    for (auto pair = first; pair != by_after.end() && pair->after == done; ++pair) {
      const std::size_t waiting = position[pair->job.index()];
      if (waiting < bound.jobs.size() && instance.workload.job(pair->job).running < 0) {
        auto& release = bound.problem.jobs[waiting].release;
        release = std::max(release, end);
        if (j < bound.jobs.size()) {
          bound.problem.dependencies.push_back({.job = JobId(waiting), .after = JobId(j)});
        }
      }
      if (--waits_for[pair->job.index()] == 0) ready.push_back(pair->job);
    }
  }
  std::ranges::sort(bound.problem.dependencies);
}

}  // namespace berth::certify
