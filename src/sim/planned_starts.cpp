// SPDX-License-Identifier: Apache-2.0
#include "planned_starts.hpp"

#include <algorithm>
#include <limits>

#include "berth/policy/shadow.hpp"
#include "berth/solver/horizon_plan.hpp"

namespace berth::sim {
namespace {

using policy::Micros;
using policy::Phase;
using policy::State;

/// A few lists, no search: the next arrival undoes what a search would gain.
const solver::HorizonPlanOptions kQuickPlan{.quantiles = {0.6},
                                            .softness = {1.0, 4.0},
                                            .pool_lead = 0.0,
                                            .machine_leads = {},
                                            .rent_shares = {},
                                            .shift_passes = 1,
                                            .reorderings = 0,
                                            .job_visits = 0,
                                            .machine_visits = 0,
                                            .most_tries = 0};

double gpu_time_for_weight(const State& state, JobId job) {
  const policy::Demand& demand = state.demand(job);
  const double work = static_cast<double>(state.remaining(job)) / demand.speeds.front();
  return work * demand.gpus() / std::max(state.job(job).weight, 1e-12);
}

}  // namespace

void PlannedStarts::decide(State& state) {
  for (const JobId job : state.arrived()) {
    const double rank = state.learns() ? gpu_time_for_weight(state, job) : 0.0;
    waiting_.push_back({rank, state.job(job).arrival, job, {}});
  }
  if (state.learns()) {
    start_what_fits(state);
  } else {
    const bool due = prices_.due(state, waiting_.size() + state.running().size());
    if (due) plan(state);
    for (PlannedStart& waiting : waiting_) {
      if (!due && waiting.start == 0.0) waiting = cheapest_start(state, waiting.job);
    }
    start_in_order(state);
  }
  std::erase_if(waiting_, [&](const PlannedStart& waiting) {
    return state.progress(waiting.job).phase != Phase::waiting;
  });
  if (!waiting_.empty()) state.wake_at(state.now() + options_.refresh);
}

void PlannedStarts::plan(const State& state) {
  std::vector<JobId> jobs;
  for (const PlannedStart& waiting : waiting_) jobs.push_back(waiting.job);
  const PresentProblem present = waiting_problem(state, jobs);
  counts_.rounds.push_back(prices_.refresh(state, present));
  waiting_.clear();
  if (!present.jobs.empty()) {
    const horizon::Plan plan = solver::plan_on_pools(present.problem, prices_.bound(), kQuickPlan);
    for (std::size_t j = 0; j < present.jobs.size(); ++j) {
      const JobId job = present.jobs[j];
      const horizon::JobStart& start = plan.starts[j];
      if (!start.placed()) continue;
      const Micros time = state.now() + start.start * policy::kSecond;
      waiting_.push_back(
          {static_cast<double>(time), state.job(job).arrival, job, GpuTypeId(start.pool.index())});
    }
  }
  std::vector<bool> planned(state.size());
  for (const PlannedStart& waiting : waiting_) planned[waiting.job.index()] = true;
  for (const JobId job : jobs) {  // without GPUs, or whose GPU types are all taken for good
    if (!planned[job.index()]) waiting_.push_back(cheapest_start(state, job));
  }
}

/// Start (now or at a node of the prices) and type with the least weighted completion and rent.
PlannedStarts::PlannedStart PlannedStarts::cheapest_start(const State& state, JobId job) const {
  const policy::Demand& demand = state.demand(job);
  PlannedStart best{static_cast<double>(state.now()), state.job(job).arrival, job,
                    demand.types.front()};
  double least = std::numeric_limits<double>::infinity();
  for (const GpuTypeId type : demand.types) {
    const double length = static_cast<double>(state.expected_run(job, type)) / policy::kSecond;
    for (const double wait : prices_.waits(state.now())) {
      const double rent = demand.gpus() * prices_.rent(type, state.now(), wait, wait + length);
      const double cost = state.job(job).weight * (wait + length) + rent;
      if (cost >= least) continue;
      least = cost;
      best.start = static_cast<double>(state.now()) + wait * policy::kSecond;
      best.type = type;
    }
  }
  return best;
}

void PlannedStarts::start_in_order(State& state) {
  std::ranges::sort(waiting_);
  policy::Shadow promised;
  GpuTypeId promised_type;
  JobId promised_job;
  bool blocked = false;
  ++counts_.decisions;
  for (const PlannedStart& waiting : waiting_) {
    if (blocked && !state.any_may_fit()) break;
    const bool harmless =
        !blocked || waiting.type != promised_type ||
        state.now() + state.expected_run(waiting.job, waiting.type) <= promised.time;
    if (harmless ? state.start(waiting.job, waiting.type)
                 : state.start_beside(waiting.job, waiting.type, promised_job, promised.tasks)) {
      continue;
    }
    if (blocked) continue;
    blocked = true;
    promised_type = waiting.type;
    promised_job = waiting.job;
    promised = policy::shadow_of(state, waiting.job, std::span(&promised_type, 1));
  }
}

void PlannedStarts::start_what_fits(State& state) {
  std::ranges::sort(waiting_);
  ++counts_.decisions;
  for (const PlannedStart& waiting : waiting_) {
    if (!state.start(waiting.job) && !state.any_may_fit()) break;
  }
}

}  // namespace berth::sim
