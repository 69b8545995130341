// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/horizon_shards.hpp"

#include "horizon/append_rows.hpp"
#include "horizon/list_planner.hpp"
#include "horizon/machine_shards.hpp"
#include "horizon/part_of_problem.hpp"

#include <algorithm>
#include <utility>

#include "berth/horizon/machine_timeline.hpp"

namespace berth::solver {

using horizon::Gpus;
using horizon::JobStart;
using horizon::Machine;
using horizon::Plan;
using horizon::Problem;
using horizon::TaskShare;
using horizon_plan::ListPlanner;
using horizon_plan::with_shares;

namespace {

/// Fewer GPUs are planned as one shard, and so are jobs x machines below this: one search over the
/// whole cluster looks at each machine for each job.
constexpr Gpus kLeastGpus = 32'768;
constexpr std::size_t kLeastVisits = 200'000'000;
/// More are planned in shards of about this size.
constexpr Gpus kShardGpus = 8'192;
/// A component of dependencies with more than this share of a shard's work forbids shards.
constexpr double kLargestComponent = 0.25;

Gpus gpus_of_machines(const Problem& problem) {
  Gpus total = 0;
  for (const Machine& machine : problem.machines) total += machine.gpus;
  return total;
}

/// Share of all work that the largest component of dependencies has.
double largest_component(const Problem& problem) {
  if (problem.dependencies.empty()) return 0.0;
  const std::vector<std::size_t> first = horizon_plan::components(problem);
  std::vector<double> work(first.size(), 0.0);
  double all = 0.0, largest = 0.0;
  for (std::size_t j = 0; j < first.size(); ++j) {
    const double of_job = horizon_plan::work_of(problem, JobId(j));
    work[first[j]] += of_job;
    all += of_job;
  }
  for (const double of : work) largest = std::max(largest, of);
  return largest / std::max(all, 1.0);
}

/// Limits that are divided among shards.
bool has_limits(const Problem& problem) {
  return !problem.quotas.empty() || !problem.licenses.empty() || !problem.budgets.empty();
}

}  // namespace

std::size_t shards_in_time(const Problem& problem) {
  const Gpus gpus = gpus_of_machines(problem);
  if (gpus < kLeastGpus || problem.jobs.size() * problem.machines.size() < kLeastVisits) return 1;
  const auto shards = static_cast<std::size_t>(gpus / kShardGpus);
  const double most = kLargestComponent / static_cast<double>(shards);
  return largest_component(problem) > most ? 1 : shards;
}

HorizonShards::HorizonShards(const Problem& problem, const HorizonBound& bound, std::size_t shards,
                             const Plan* kept)
    : problem_(problem),
      bound_(bound),
      kept_(kept),
      shards_(1),
      shard_of_machine_(horizon_plan::shards_of_machines(problem, shards)),
      whole_(problem.jobs.size(), false),
      home_(problem.jobs.size()) {
  for (const ShardId shard : shard_of_machine_) shards_ = std::max(shards_, shard.index() + 1);
  over_all_.starts.resize(problem.jobs.size());
}

/// The shard of all tasks of a placed job; invalid when there are several.
ShardId HorizonShards::shard_of(const Plan& plan, JobId job) const {
  ShardId shard;
  for (const TaskShare& share : plan.starts[job.index()].shares.of(plan.shares)) {
    const ShardId here = shard_of_machine_[share.machine.index()];
    if (shard.valid() && shard != here) return {};
    shard = here;
  }
  return shard;
}

bool HorizonShards::restore(const Plan& plan, std::span<const std::int32_t> homes) {
  over_all_ = {.starts = std::vector<JobStart>(plan.starts.size()), .shares = {}};
  begun_ = over_all_;
  planned_ = true;
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    const bool placed = plan.starts[j].placed();
    const ShardId waits = homes.empty() ? ShardId() : ShardId(homes[j]);
    home_[j] = placed ? shard_of(plan, JobId(j)) : waits;
    whole_[j] = !home_[j].valid();
  }
  // those that depend on each other are in one shard, or in none
  const std::vector<std::size_t> first = horizon_plan::components(problem_);
  for (std::size_t j = 0; j < first.size(); ++j) {
    if (whole_[j] || home_[j] != home_[first[j]]) whole_[first[j]] = true;
  }
  for (std::size_t j = 0; j < first.size(); ++j) {
    if (whole_[first[j]]) {
      whole_[j] = true;
      home_[j] = {};
    }
    if (!plan.starts[j].placed()) continue;
    if (whole_[j] && !problem_.place_limits.empty()) return false;
    Plan& to = whole_[j] ? over_all_ : begun_;
    to.starts[j] = with_shares(plan.starts[j], plan.starts[j].shares.of(plan.shares), to);
  }
  divide_pools();
  for (JobStart& start : begun_.starts) {
    if (start.placed()) {
      start.pool = divided_.machines[start.shares.of(begun_.shares).front().machine.index()].pool;
    }
  }
  return true;
}

bool HorizonShards::change_with_plan() const {
  return has_limits(problem_) || std::ranges::find(whole_, true) != whole_.end();
}

void HorizonShards::start() {
  added_.clear();
  for (std::size_t j = 0; j < over_all_.starts.size(); ++j) {
    const JobStart& start = over_all_.starts[j];
    if (!start.placed()) continue;
    const auto shares = start.shares.of(over_all_.shares);
    added_.push_back({.job = JobId(j), .start = start, .shares = {shares.begin(), shares.end()}});
  }
}

void HorizonShards::add(ShardId shard, std::span<const JobId> names, const Plan& plan) {
  std::vector<MachineId> machines;
  for (const PoolId part : parts_[shard.index()]) {
    const horizon::IndexRange range = divided_.pools[part.index()].machines;
    for (auto m = range.begin; m < range.end; ++m) machines.emplace_back(m);
  }
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (!plan.starts[j].placed()) continue;
    horizon::RemovedJob job{.job = names[j], .start = plan.starts[j], .shares = {}};
    for (TaskShare one : plan.starts[j].shares.of(plan.shares)) {
      one.machine = machines[one.machine.index()];
      job.shares.push_back(one);
    }
    job.start.pool = pool_of_part_[parts_[shard.index()][plan.starts[j].pool.index()].index()];
    added_.push_back(std::move(job));
  }
}

Plan HorizonShards::plan() const {
  std::vector<const horizon::RemovedJob*> by_job(problem_.jobs.size(), nullptr);
  for (const horizon::RemovedJob& job : added_) by_job[job.job.index()] = &job;
  Plan plan{.starts = std::vector<JobStart>(by_job.size()), .shares = {}};
  for (std::size_t j = 0; j < by_job.size(); ++j) {
    if (by_job[j] != nullptr)
      plan.starts[j] = with_shares(by_job[j]->start, by_job[j]->shares, plan);
  }
  assign_devices(problem_, plan);
  return plan;
}

Plan HorizonShards::completed(const StopToken& stop) const {
  Plan plan = this->plan();
  std::vector<JobId> waiting;
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    if (problem_.options_of(problem_.jobs[j]).empty()) continue;
    const bool tried = whole_[j] || problem_.jobs[j].required || has_limits(problem_);
    if (tried && !plan.starts[j].placed()) waiting.emplace_back(j);
    if (whole_[j] && plan.starts[j].placed()) waiting.emplace_back(j);
  }
  if (waiting.empty()) return plan;
  horizon::MachineTimeline timeline(problem_);
  ListPlanner planner(problem_, timeline);
  planner.keep(plan);
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    if (plan.starts[j].placed() != planner.built().start_of(JobId(j)).placed()) return plan;
  }
  for (const JobId job : planner.dependencies().ordered(waiting)) {
    if (stop.requested()) break;
    (void)planner.shift_left(job);
  }
  plan = planner.built().plan();
  assign_devices(problem_, plan);
  return plan;
}

}  // namespace berth::solver
