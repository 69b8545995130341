// SPDX-License-Identifier: Apache-2.0
#include "elastic_slots.hpp"

#include <algorithm>
#include <functional>

namespace berth::papers {
namespace {

using policy::Phase;
using policy::State;

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

SlotSupply begin_slot(State& state) {
  SlotSupply supply{.jobs = present(state), .gpus = total_gpus(state)};
  std::erase_if(supply.jobs, [&](JobId job) {
    if (!state.demand(job).uses_gpus()) {
      if (state.progress(job).phase == Phase::waiting) state.start(job);
      return true;
    }
    if (is_fixed(state, job)) supply.gpus -= state.demand(job).gpus();
    return is_fixed(state, job);
  });
  return supply;
}

std::vector<std::uint32_t> configurations_by_size(const State& state, JobId job) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t c = 0; c < state.job(job).configurations; ++c) sizes.push_back(c);
  const auto gpus = [&](std::uint32_t c) { return state.demand(job, c).gpus(); };
  std::ranges::stable_sort(sizes, std::less{}, gpus);
  const auto equal = std::ranges::unique(sizes, std::ranges::equal_to{}, gpus);
  sizes.erase(equal.begin(), equal.end());
  return sizes;
}

void carry_out(State& state, std::span<const SizedJob> jobs) {
  for (const SizedJob& sized : jobs) {
    const auto to = sized.chosen < 0
                        ? std::int32_t{-1}
                        : static_cast<std::int32_t>(
                              sized.configurations[static_cast<std::size_t>(sized.chosen)]);
    release(state, sized.job, to);
  }
  for (const SizedJob& sized : jobs) {
    const auto count = static_cast<std::size_t>(sized.chosen + 1);
    if (count > 0) take(state, sized.job, std::span(sized.configurations).first(count));
  }
}

}  // namespace berth::papers
