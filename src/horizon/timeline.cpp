// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/timeline.hpp"

#include <utility>

#include "berth/base/assert.hpp"
#include "berth/horizon/device_shares.hpp"
#include "berth/horizon/pool_timeline.hpp"

namespace berth::horizon {

PoolTimeline::PoolTimeline(const Problem& problem) {
  if (has_shares(problem)) unit_ = model::kGpuMilli;
  for (const Pool& pool : problem.pools) {
    std::vector<CapacityStep> steps = pool.capacity;
    for (CapacityStep& step : steps) step.gpus *= unit_;
    CapacityProfile& profile = profiles_.emplace_back(steps);
    for (std::size_t s = 0; unit_ > 1 && s < pool.parts.size(); ++s) {
      const Seconds to = s + 1 < pool.parts.size() ? pool.parts[s + 1].from : kNever;
      profile.reserve(pool.parts[s].from, to, -pool.parts[s].gpus);
    }
  }
}

const Option& PlanBuilder::option_of(JobId job) const {
  const JobStart& start = starts_[job.index()];
  BERTH_EXPECT(start.placed());
  return problem_.options_of(problem_.jobs[job.index()])[static_cast<std::size_t>(start.option)];
}

Seconds PlanBuilder::end_of(JobId job) const {
  return starts_[job.index()].start + option_of(job).duration;
}

double PlanBuilder::cost_of(JobId job) const {
  if (!starts_[job.index()].placed()) return 0.0;
  return cost_at(problem_.cost_of(option_of(job)), end_of(job));
}

void PlanBuilder::place(JobId job, const JobStart& start) {
  BERTH_EXPECT(!starts_[job.index()].placed() && start.placed());
  starts_[job.index()] = start;
  timeline_.reserve(option_of(job), start.pool, start.start, shares_[job.index()]);
  budgets_.take(option_of(job), start.start, 1);
}

RemovedJob PlanBuilder::remove(JobId job) {
  const JobStart& start = starts_[job.index()];
  timeline_.release(option_of(job), start.pool, start.start, shares_[job.index()]);
  budgets_.take(option_of(job), start.start, -1);
  RemovedJob removed{.job = job, .start = start, .shares = std::move(shares_[job.index()])};
  shares_[job.index()].clear();
  starts_[job.index()] = {};
  return removed;
}

void PlanBuilder::restore(RemovedJob removed) {
  const std::size_t j = removed.job.index();
  BERTH_EXPECT(!starts_[j].placed());
  starts_[j] = removed.start;
  shares_[j] = std::move(removed.shares);
  timeline_.retake(option_of(removed.job), removed.start.pool, removed.start.start, shares_[j]);
  budgets_.take(option_of(removed.job), removed.start.start, 1);
}

bool PlanBuilder::restore_if_free(RemovedJob job) {
  starts_[job.job.index()] = job.start;  // names the option
  const Option& option = option_of(job.job);
  starts_[job.job.index()] = {};
  if (!budgets_.allow(option, job.start.start)) return false;
  if (!timeline_.fits(option, job.start.pool, job.start.start, job.shares)) return false;
  restore(std::move(job));
  return true;
}

Plan PlanBuilder::plan() const {
  Plan plan{.starts = starts_, .shares = {}};
  for (std::size_t j = 0; j < starts_.size(); ++j) {
    plan.starts[j].shares.begin = static_cast<std::int32_t>(plan.shares.size());
    plan.shares.insert(plan.shares.end(), shares_[j].begin(), shares_[j].end());
    plan.starts[j].shares.end = static_cast<std::int32_t>(plan.shares.size());
  }
  return plan;
}

}  // namespace berth::horizon
