// SPDX-License-Identifier: Apache-2.0
#include "horizon_trials.hpp"

#include <algorithm>
#include <utility>

namespace berth::pipeline {

using horizon::JobStart;
using horizon::Seconds;

namespace {

constexpr std::size_t kCandidates = 2048;  ///< jobs that may have to leave; not tuned

std::vector<JobId> joined(std::vector<JobId> jobs, std::span<const JobId> more) {
  jobs.insert(jobs.end(), more.begin(), more.end());
  return jobs;
}

}  // namespace

HorizonTrials::HorizonTrials(const HorizonProblem& translated, const horizon::Plan& plan,
                             const model::Horizon& horizon)
    : translated_(translated),
      problem_(translated.problem),
      horizon_(horizon),
      plan_(plan),
      timeline_(problem_),
      budgets_(problem_),
      graph_(problem_.jobs.size(), problem_.dependencies) {
  std::vector<JobId> placed;
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    if (plan.starts[j].placed()) placed.emplace_back(j);
  }
  come_back(placed);
}

const horizon::Option& HorizonTrials::option_of(JobId job, const JobStart& start) const {
  const horizon::Job& record = problem_.jobs[job.index()];
  return problem_.options_of(record)[static_cast<std::size_t>(start.option)];
}

Seconds HorizonTrials::end_of(JobId job, const JobStart& start) const {
  return start.start + option_of(job, start).duration;
}

void HorizonTrials::leave(std::span<const JobId> jobs) {
  for (const JobId job : jobs) {
    const JobStart& start = plan_.starts[job.index()];
    const auto shares = start.shares.of(plan_.shares);
    timeline_.release(option_of(job, start), start.pool, start.start,
                      {shares.begin(), shares.end()});
    budgets_.take(option_of(job, start), start.start, -1);
  }
}

void HorizonTrials::come_back(std::span<const JobId> jobs) {
  for (const JobId job : jobs) {
    const JobStart& start = plan_.starts[job.index()];
    const auto shares = start.shares.of(plan_.shares);
    timeline_.retake(option_of(job, start), start.pool, start.start,
                     {shares.begin(), shares.end()});
    budgets_.take(option_of(job, start), start.start, 1);
  }
}

bool HorizonTrials::is_blocked(JobId job) const {
  return std::ranges::any_of(graph_.before(job),
                             [&](JobId before) { return !plan_.starts[before.index()].placed(); });
}

std::optional<JobStart> HorizonTrials::earliest(JobId id, std::optional<Seconds> until) {
  const horizon::Job& job = problem_.jobs[id.index()];
  Seconds release = job.release;
  for (const JobId before : graph_.before(id)) {
    const JobStart& start = plan_.starts[before.index()];
    release = std::max(release, end_of(before, start));
  }
  const Seconds end = until.value_or(horizon_.end());
  JobStart best;
  best.start = end;
  const auto options = problem_.options_of(job);
  for (std::size_t k = 0; k < options.size(); ++k) {
    const horizon::Option& option = options[k];
    for (const PoolId pool : problem_.pools_of(option)) {
      const Seconds start = timeline_.earliest_until(option, pool, release, best.start);
      if (start >= best.start || start + option.duration > job.deadline) continue;
      if (!budgets_.allow(option, start)) continue;
      const Seconds completion = start + option.duration;
      const bool gains =
          until || job.required || cost_at(problem_.cost_of(option), completion) < 0.0;
      if (!gains) continue;
      best = {.option = static_cast<std::int32_t>(k), .pool = pool, .start = start, .shares = {}};
    }
  }
  return best.placed() ? std::optional(best) : std::nullopt;
}

std::optional<JobStart> HorizonTrials::earliest_without(JobId job, std::span<const JobId> stopped) {
  leave(stopped);
  auto start = earliest(job);
  come_back(stopped);
  return start;
}

double HorizonTrials::value_of(JobId job) const {
  const JobStart& start = plan_.starts[job.index()];
  return -cost_at(problem_.cost_of(option_of(job, start)), end_of(job, start));
}

/// Jobs that may be left out, and for which none waits; by ascending value.
std::vector<JobId> HorizonTrials::candidates() const {
  std::vector<bool> waited_for(plan_.starts.size(), false);
  for (std::size_t j = 0; j < plan_.starts.size(); ++j) {
    if (!plan_.starts[j].placed()) continue;
    for (const JobId before : graph_.before(JobId(j))) waited_for[before.index()] = true;
  }
  std::vector<std::pair<double, JobId>> order;
  for (std::size_t j = 0; j < plan_.starts.size(); ++j) {
    const JobId job(j);
    if (!plan_.starts[j].placed() || problem_.jobs[j].required || waited_for[j]) continue;
    order.emplace_back(value_of(job), job);
  }
  std::ranges::sort(order);
  if (order.size() > kCandidates) order.resize(kCandidates);
  std::vector<JobId> jobs;
  for (const auto& [value, job] : order) jobs.push_back(job);
  return jobs;
}

std::optional<std::vector<JobId>> HorizonTrials::victims(JobId job) {
  const std::vector<JobId> all = candidates();
  std::size_t gone = 0;
  bool fits = false;
  for (std::size_t next = 1; gone < all.size() && !fits; next *= 2) {
    const std::size_t to = std::min(next, all.size());
    leave(std::span(all).subspan(gone, to - gone));
    gone = to;
    fits = earliest(job).has_value();
  }
  come_back(std::span(all).first(gone));
  if (!fits) return std::nullopt;
  return needed(job, std::span(all).first(gone));
}

/// QuickXplain: which of these must leave, beside those that have left. @pre all of them suffice
std::vector<JobId> HorizonTrials::needed(JobId job, std::span<const JobId> among) {
  if (earliest(job)) return {};
  if (among.size() == 1) return {among.front()};
  const auto cheap = among.first(among.size() / 2), dear = among.subspan(among.size() / 2);
  leave(cheap);
  const std::vector<JobId> of_dear = needed(job, dear);
  come_back(cheap);
  leave(of_dear);
  const std::vector<JobId> of_cheap = needed(job, cheap);
  come_back(of_dear);
  return joined(of_dear, of_cheap);
}

horizon::Plan HorizonTrials::plan_with(std::span<const JobId> stopped, JobId job,
                                       const JobStart& start) {
  horizon::Plan plan = plan_;
  leave(stopped);
  std::vector<horizon::TaskShare> shares;
  timeline_.reserve(option_of(job, start), start.pool, start.start, shares);
  timeline_.release(option_of(job, start), start.pool, start.start, shares);
  come_back(stopped);
  for (const JobId gone : stopped) plan.starts[gone.index()] = {};
  const auto begin = static_cast<std::int32_t>(plan.shares.size());
  plan.shares.insert(plan.shares.end(), shares.begin(), shares.end());
  plan.starts[job.index()] = start;
  plan.starts[job.index()].shares = {begin, static_cast<std::int32_t>(plan.shares.size())};
  assign_devices(problem_, plan);
  return plan;
}

}  // namespace berth::pipeline
