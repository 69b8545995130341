// SPDX-License-Identifier: Apache-2.0
#include "slaq_policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "berth/base/error.hpp"

namespace berth::papers {
namespace {

using policy::Phase;
using policy::State;

/// Jobs of which the loss is not known, the first ones by name.
std::string jobs_without_loss(const PaperWorld& world) {
  constexpr std::size_t kMost = 5;
  const std::vector<speed::JobLoss>& losses = world.profiles.losses;
  std::size_t missing = 0;
  std::string names;
  for (std::size_t j = 0; j < world.instance.workload.size(); ++j) {
    if (!losses.empty() && losses[j].iterations > 0.0) continue;
    if (++missing > kMost) continue;
    names += (missing > 1 ? ", " : "") + std::string(world.instance.workload.job_names[j]);
  }
  if (missing > kMost) names += " and " + std::to_string(missing - kMost) + " more";
  return names;
}

/// Work of a job, in seconds at speed 1.
double seconds_of(const PaperWorld& world, JobId job) {
  const model::Workload& workload = world.instance.workload;
  return static_cast<double>(workload.time_of(workload.job(job)).seconds());
}

double total_gpus(const State& state) {
  auto milli = static_cast<double>(state.free().free_milli());
  for (const JobId job : state.running()) milli += static_cast<double>(state.demand(job).milli);
  return milli / 1000.0;
}

/// Jobs that run or wait, ascending.
std::vector<JobId> present(const State& state) {
  std::vector<JobId> jobs(state.running().begin(), state.running().end());
  for (std::size_t j = 0; j < state.size(); ++j) {
    if (state.progress(JobId(j)).phase == Phase::waiting) jobs.push_back(JobId(j));
  }
  std::ranges::sort(jobs);
  return jobs;
}

/// Whether a decision may change what the job holds.
bool is_fixed(const State& state, JobId job) {
  return state.progress(job).phase == Phase::running && !state.job(job).preemptible;
}

/// Resizes or stops a running job that has too much; starts or grows come after all of these.
void release(State& state, JobId job, std::int32_t configuration) {
  const auto& progress = state.progress(job);
  if (progress.phase != Phase::running || progress.since == state.now()) return;
  if (configuration < 0) {
    state.stop(job);
    return;
  }
  const auto to = static_cast<std::uint32_t>(configuration);
  if (state.demand(job, to).milli < state.demand(job).milli) state.resize(job, to);
}

/// Grows or starts a job as far as it fits, its larger sizes first.
void take(State& state, JobId job, std::span<const std::uint32_t> sizes) {
  const auto& progress = state.progress(job);
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    if (progress.phase == Phase::running) {
      if (progress.since == state.now()) return;
      if (state.demand(job, *size).milli <= state.demand(job).milli) return;
      if (state.resize(job, *size)) return;
    } else {
      if (state.job(job).elastic) state.choose(job, *size);
      if (state.start(job)) return;
    }
  }
}

}  // namespace

SlaqPolicy::SlaqPolicy(const PaperWorld& world)
    : world_(world), histories_(world.instance.workload.size()) {
  const std::string missing = jobs_without_loss(world);
  if (missing.empty()) return;
  throw InputError({.file = "", .line = 0, .field = "loss"},
                   "slaq needs the loss of every job; without: " + missing,
                   "--profiles gives it on their \"job\" lines");
}

double SlaqPolicy::iterations(const State& state, JobId job) const {
  const double duration = seconds_of(world_, job);
  const double part = static_cast<double>(state.done(job)) / (duration * policy::kSecond);
  return part * world_.profiles.losses[job.index()].iterations;
}

void SlaqPolicy::report(const State& state, JobId job) {
  LossHistory& history = histories_[job.index()];
  const double done = iterations(state, job);
  for (auto k = static_cast<double>(history.size()); k <= done; k += 1.0)
    history.add(k, world_.profiles.losses[job.index()].curve.loss(k));
}

SlaqPolicy::Candidate SlaqPolicy::candidate(const State& state, JobId job, double share) {
  Candidate made{.job = job, .options = {}, .configurations = {}};
  for (std::uint32_t c = 0; c < state.job(job).configurations; ++c)
    made.configurations.push_back(c);
  const auto gpus = [&](std::uint32_t c) { return state.demand(job, c).gpus(); };
  std::ranges::stable_sort(made.configurations, std::less{}, gpus);
  const auto equal = std::ranges::unique(made.configurations, std::ranges::equal_to{}, gpus);
  made.configurations.erase(equal.begin(), equal.end());
  LossHistory& history = histories_[job.index()];
  const double done = iterations(state, job);
  const double duration = seconds_of(world_, job);
  const double epoch = static_cast<double>(kEpoch) / policy::kSecond;
  for (const std::uint32_t c : made.configurations) {
    const double speed = state.demand(job, c).speeds.front();
    const double more = epoch * speed * world_.profiles.losses[job.index()].iterations / duration;
    const QualityJob seen = paper_quality_job(history, done, more);
    made.options.push_back({gpus(c), seen.fit ? quality_gain(seen, 0) : 0.0});
  }
  if (history.size() >= kLeastPoints) return made;
  // A new job: one size, before all others.
  std::size_t at = made.options.size() - 1;
  while (at > 0 && made.options[at].gpus > share) --at;
  made.configurations = {made.configurations[at]};
  made.options = {{made.options[at].gpus, std::numeric_limits<double>::max()}};
  return made;
}

void SlaqPolicy::decide(State& state) {
  double gpus = total_gpus(state);
  std::vector<JobId> jobs = present(state);
  std::erase_if(jobs, [&](JobId job) {
    if (!state.demand(job).uses_gpus()) {
      if (state.progress(job).phase == Phase::waiting) state.start(job);
      return true;
    }
    if (is_fixed(state, job)) gpus -= state.demand(job).gpus();
    return is_fixed(state, job);
  });
  const double share = gpus / static_cast<double>(std::max<std::size_t>(jobs.size(), 1));
  std::vector<Candidate> candidates;
  std::vector<std::vector<SizeOption>> options;
  for (const JobId job : jobs) {
    report(state, job);
    candidates.push_back(candidate(state, job, share));
    options.push_back(candidates.back().options);
  }
  const std::vector<std::int32_t> chosen = divide_options(options, gpus);
  const auto configuration = [&](std::size_t i) {
    if (chosen[i] < 0) return std::int32_t{-1};
    const auto option = static_cast<std::size_t>(chosen[i]);
    return static_cast<std::int32_t>(candidates[i].configurations[option]);
  };
  for (std::size_t i = 0; i < jobs.size(); ++i) release(state, jobs[i], configuration(i));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto sizes = std::span(candidates[i].configurations);
    if (chosen[i] >= 0) take(state, jobs[i], sizes.first(static_cast<std::size_t>(chosen[i]) + 1));
  }
  if (!jobs.empty() && state.slot() == 0) state.wake_at(state.now() + kEpoch);
}

std::unique_ptr<policy::Policy> make_slaq(const PaperWorld& world) {
  return std::make_unique<SlaqPolicy>(world);
}

}  // namespace berth::papers
