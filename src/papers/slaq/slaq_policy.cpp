// SPDX-License-Identifier: Apache-2.0
#include "slaq_policy.hpp"

#include "../elastic_slots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "berth/base/error.hpp"

namespace berth::papers {
namespace {

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
  Candidate made;
  made.configurations = configurations_by_size(state, job);
  const auto gpus = [&](std::uint32_t c) { return state.demand(job, c).gpus(); };
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
  const SlotSupply supply = begin_slot(state);
  const std::vector<JobId>& jobs = supply.jobs;
  const double share = supply.gpus / static_cast<double>(std::max<std::size_t>(jobs.size(), 1));
  std::vector<SizedJob> sized;
  std::vector<std::vector<SizeOption>> options;
  for (const JobId job : jobs) {
    report(state, job);
    Candidate made = candidate(state, job, share);
    options.push_back(std::move(made.options));
    sized.push_back({job, std::move(made.configurations), -1});
  }
  const std::vector<std::int32_t> chosen = divide_options(options, supply.gpus);
  for (std::size_t i = 0; i < jobs.size(); ++i) sized[i].chosen = chosen[i];
  carry_out(state, sized);
  if (!jobs.empty() && state.slot() == 0) state.wake_at(state.now() + kEpoch);
}

std::unique_ptr<policy::Policy> make_slaq(const PaperWorld& world) {
  return std::make_unique<SlaqPolicy>(world);
}

}  // namespace berth::papers
