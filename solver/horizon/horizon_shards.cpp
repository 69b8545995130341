// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/horizon_shards.hpp"

#include "horizon/curves_of_bound.hpp"
#include "horizon/divided_limits.hpp"
#include "horizon/list_planner.hpp"
#include "horizon/list_search.hpp"
#include "horizon/machine_shards.hpp"
#include "horizon/part_of_problem.hpp"
#include "horizon/start_quantiles.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "berth/base/infinity.hpp"
#include "berth/base/random.hpp"
#include "berth/horizon/machine_timeline.hpp"
#include "berth/solver/horizon_plan.hpp"

namespace berth::solver {

using horizon::Gpus;
using horizon::Job;
using horizon::JobStart;
using horizon::kNever;
using horizon::Machine;
using horizon::Option;
using horizon::Outage;
using horizon::Plan;
using horizon::Problem;
using horizon::TaskShare;
using horizon_plan::CurvesOfBound;
using horizon_plan::ListPlanner;
using horizon_plan::MachineRun;
using horizon_plan::PlaceRule;
using horizon_plan::PoolMap;

namespace {

/// Fewer GPUs are planned as one shard, and so are jobs x machines below this: one search over the
/// whole cluster looks at each machine for each job.
constexpr Gpus kLeastGpus = 32'768;
constexpr std::size_t kLeastVisits = 200'000'000;
/// More are planned in shards of about this size.
constexpr Gpus kShardGpus = 8'192;
/// Jobs that are larger than this share of a shard have none.
constexpr double kLargestShare = 0.5;
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

/// A job's start and its shares, copied to the end of a plan.
void append_start(Plan& to, JobId job, JobStart start, std::span<const TaskShare> shares) {
  start.shares.begin = static_cast<std::int32_t>(to.shares.size());
  to.shares.insert(to.shares.end(), shares.begin(), shares.end());
  start.shares.end = static_cast<std::int32_t>(to.shares.size());
  to.starts[job.index()] = start;
}

/// The bound without cost shares of jobs that cannot run here.
HorizonBound without_shares_of(const HorizonBound& bound, const std::vector<bool>& jobs) {
  HorizonBound result = bound;
  std::erase_if(result.shares, [&](const horizon::CostShare& share) {
    return jobs[share.job.index()] || jobs[share.after.index()];
  });
  return result;
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

void HorizonShards::deal(const StopToken& stop) {
  std::map<std::pair<PoolId, ShardId>, Gpus> gpus;
  for (std::size_t m = 0; m < problem_.machines.size(); ++m) {
    const Machine& machine = problem_.machines[m];
    gpus[{machine.pool, shard_of_machine_[m]}] += machine.gpus;
  }
  const auto may_fit = [&](const Option& option) {
    const bool spread = option.spread >= 0 &&
                        problem_.spreads[static_cast<std::size_t>(option.spread)].least.back() > 1;
    if (spread) return false;
    if (option.domain < model::Level::cluster) return true;
    return std::ranges::any_of(problem_.pools_of(option), [&](PoolId pool) {
      for (std::size_t s = 0; s < shards_; ++s) {
        const auto of = gpus.find({pool, ShardId(s)});
        if (of == gpus.end()) continue;
        if (gpus_of(option) <= kLargestShare * static_cast<double>(of->second)) return true;
      }
      return false;
    });
  };
  for (std::size_t j = 0; j < whole_.size(); ++j) {
    const auto options = problem_.options_of(problem_.jobs[j]);
    whole_[j] = !options.empty() && std::ranges::none_of(options, may_fit);
    const bool kept = kept_ != nullptr && kept_->starts[j].placed();
    if (kept && !shard_of(*kept_, JobId(j)).valid()) whole_[j] = true;
  }
  const std::vector<std::size_t> first = horizon_plan::components(problem_);
  for (std::size_t j = 0; j < whole_.size(); ++j) {
    if (whole_[j]) whole_[first[j]] = true;
  }
  for (std::size_t j = 0; j < whole_.size(); ++j) whole_[j] = whole_[first[j]];
  place_whole(stop);
  divide_pools();
  deal_jobs(stop);
}

/// Jobs that no shard holds, by the start that the prices give them, each where cost + rent is
/// least. Where racks and pods have limits these jobs wait for `completed`.
void HorizonShards::place_whole(const StopToken& stop) {
  const bool none = std::ranges::find(whole_, true) == whole_.end();
  if (none || !problem_.place_limits.empty()) return;
  const CurvesOfBound at(problem_, bound_);
  horizon::MachineTimeline timeline(problem_);
  ListPlanner planner(problem_, timeline);
  if (kept_ != nullptr) {
    Plan kept = *kept_;
    for (std::size_t j = 0; j < whole_.size(); ++j) {
      if (!whole_[j]) kept.starts[j] = {};
    }
    planner.keep(kept);
  }
  const auto starts = horizon_plan::start_quantiles(
      at.priced, at.prices, std::max(bound_.temperature, 1e-5), 0.6, bound_.grid);
  std::vector<JobId> order = horizon_plan::order_by(starts);
  std::erase_if(order, [&](JobId job) { return !whole_[job.index()]; });
  for (const JobId job : planner.dependencies().ordered(order)) {
    if (stop.requested()) break;
    if (!planner.built().start_of(job).placed()) planner.place(job, PlaceRule::priced, at.prices);
  }
  over_all_ = planner.built().plan();
}

/// The pools by shard, with the machines of `over_all_` closed while its jobs run.
void HorizonShards::divide_pools() {
  std::vector<Outage> outages;
  for (std::size_t j = 0; j < over_all_.starts.size(); ++j) {
    const JobStart& start = over_all_.starts[j];
    if (!start.placed()) continue;
    const Option& option =
        problem_.options_of(problem_.jobs[j])[static_cast<std::size_t>(start.option)];
    for (const TaskShare& share : start.shares.of(over_all_.shares)) {
      Outage outage{.machine = share.machine,
                    .from = start.start,
                    .to = start.start + option.duration,
                    .devices = ~0ULL,
                    .taken = problem_.machines[share.machine.index()].capacity,
                    .neighbours = problem_.tasks_of(option).front().neighbours};
      for (std::size_t r = 0; r < model::kResources; ++r) {
        if (outage.taken[r] == model::kNoLimit) outage.taken[r] = 0;
      }
      outages.push_back(outage);
    }
  }
  std::vector<MachineRun> runs;
  pool_of_part_.clear();
  parts_.assign(shards_, {});
  for (std::size_t m = 0; m < problem_.machines.size(); ++m) {
    const Machine& machine = problem_.machines[m];
    const ShardId shard = shard_of_machine_[m];
    const bool same =
        m > 0 && problem_.machines[m - 1].pool == machine.pool && shard_of_machine_[m - 1] == shard;
    if (!same) {
      const auto first = static_cast<std::int32_t>(m);
      parts_[shard.index()].emplace_back(runs.size());
      runs.push_back(
          {.curve = problem_.pools[machine.pool.index()].curve, .machines = {first, first}});
      pool_of_part_.push_back(machine.pool);
    }
    ++runs.back().machines.end;
  }
  divided_ = horizon_plan::with_pools(problem_, runs, pool_of_part_, outages);
  for (std::size_t j = 0; j < whole_.size(); ++j) {
    if (whole_[j]) divided_.jobs[j].options.end = divided_.jobs[j].options.begin;
  }
}

/// Two quantiles, no search: the shards have their own. A job that this list leaves out goes to a
/// pool that is drawn in proportion to its GPUs.
void HorizonShards::deal_jobs(const StopToken& stop) {
  HorizonBound bound = without_shares_of(bound_, whole_);
  bound.bound = -kInfinity;
  begun_ = plan_on_pools(divided_, bound,
                         {.softness = {1.0}, .shift_passes = 0, .reorderings = 0, .most_tries = 0},
                         stop);
  const auto shard_of_pool = [&](PoolId pool) {
    return shard_of_machine_[static_cast<std::size_t>(divided_.pools[pool.index()].machines.begin)];
  };
  for (std::size_t j = 0; j < home_.size(); ++j) {
    home_[j] = {};
    if (whole_[j]) continue;
    if (kept_ != nullptr && kept_->starts[j].placed()) {
      home_[j] = shard_of(*kept_, JobId(j));
      continue;
    }
    if (begun_.starts[j].placed()) {
      home_[j] = shard_of_pool(begun_.starts[j].pool);
      continue;
    }
    std::uint64_t all = 0, before = 0;
    const auto visit = [&](const auto& found) {
      for (const Option& option : divided_.options_of(divided_.jobs[j])) {
        for (const PoolId pool : divided_.pools_of(option)) {
          found(pool, divided_.pools[pool.index()].machines.size());
        }
      }
    };
    visit([&](PoolId, std::uint64_t machines) { all += machines; });
    if (all == 0) continue;
    const std::uint64_t drawn = random_below(all, {0x4845, j});
    visit([&](PoolId pool, std::uint64_t machines) {
      if (before <= drawn && drawn < before + machines) home_[j] = shard_of_pool(pool);
      before += machines;
    });
  }
  keep_components_together();
}

bool HorizonShards::can_run_in(JobId job, ShardId shard) const {
  return std::ranges::any_of(divided_.options_of(divided_.jobs[job.index()]), [&](const Option& o) {
    return std::ranges::any_of(divided_.pools_of(o), [&](PoolId pool) {
      const auto machine = divided_.pools[pool.index()].machines.begin;
      return shard_of_machine_[static_cast<std::size_t>(machine)] == shard;
    });
  });
}

/// Jobs that wait for each other are in the shard with most of their work, or in none when one of
/// them cannot run there.
void HorizonShards::keep_components_together() {
  if (problem_.dependencies.empty()) return;
  const std::vector<std::size_t> first = horizon_plan::components(problem_);
  std::map<std::size_t, std::vector<JobId>> members;
  for (std::size_t j = 0; j < first.size(); ++j) members[first[j]].emplace_back(j);
  for (const auto& [root, jobs] : members) {
    if (jobs.size() == 1 || whole_[root]) continue;
    std::vector<double> work(shards_, 0.0);
    for (const JobId job : jobs) {
      if (home_[job.index()].valid()) {
        work[home_[job.index()].index()] += horizon_plan::work_of(problem_, job);
      }
    }
    const ShardId shard(static_cast<std::size_t>(std::ranges::max_element(work) - work.begin()));
    const bool all = std::ranges::all_of(jobs, [&](JobId job) { return can_run_in(job, shard); });
    for (const JobId job : jobs) {
      home_[job.index()] = all ? shard : ShardId();
      whole_[job.index()] = !all;
    }
  }
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
    append_start(to, JobId(j), plan.starts[j], plan.starts[j].shares.of(plan.shares));
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
  const bool limited =
      !problem_.quotas.empty() || !problem_.licenses.empty() || !problem_.budgets.empty();
  return limited || std::ranges::find(whole_, true) != whole_.end();
}

/// The starts of a plan over parts of pools, or with machines, of the jobs of a task.
Plan HorizonShards::part_of(const Plan& plan, const HorizonShardTask& task,
                            std::span<const PoolId> pools) const {
  Plan part{.starts = std::vector<JobStart>(task.jobs.names.size()), .shares = {}};
  for (std::size_t j = 0; j < part.starts.size(); ++j) {
    JobStart start = plan.starts[task.jobs.names[j].index()];
    if (!start.placed()) continue;
    std::vector<TaskShare> shares;
    for (TaskShare share : start.shares.of(plan.shares)) {
      const PoolId from = divided_.machines[share.machine.index()].pool;
      if (!pools[from.index()].valid()) {  // a kept start of a job that was dealt elsewhere
        start.pool = {};
        break;
      }
      const std::int32_t machine =
          share.machine.value() - divided_.pools[from.index()].machines.begin +
          task.jobs.problem.pools[pools[from.index()].index()].machines.begin;
      share.machine = MachineId(machine);
      start.pool = from;
      shares.push_back(share);
    }
    if (start.pool.valid() && pools[start.pool.index()].valid()) {
      start.pool = pools[start.pool.index()];
      append_start(part, JobId(j), start, shares);
    }
  }
  return part;
}

std::vector<HorizonShardTask> HorizonShards::tasks(std::int64_t machine_visits) const {
  std::vector<HorizonShardTask> tasks(shards_);
  std::vector<PoolMap> pools(shards_);
  for (std::size_t s = 0; s < shards_; ++s) {
    tasks[s].shard = ShardId(s);
    tasks[s].machine_visits = machine_visits / static_cast<std::int64_t>(shards_);
    tasks[s].planned = planned_;
    tasks[s].bound = bound_;
    tasks[s].bound.shares.clear();
    tasks[s].jobs.problem = horizon_plan::machines_of_pools(divided_, parts_[s], pools[s]);
  }
  for (std::size_t j = 0; j < home_.size(); ++j) {
    if (!home_[j].valid()) continue;
    const std::size_t s = home_[j].index();
    horizon_plan::append_job(divided_, JobId(j), pools[s], tasks[s].jobs.problem);
    tasks[s].jobs.names.emplace_back(j);
  }
  for (const model::Dependency& pair : problem_.dependencies) {
    const ShardId shard = home_[pair.job.index()];
    if (shard.valid()) tasks[shard.index()].dependencies.push_back(pair);
  }
  for (const horizon::CostShare& share : bound_.shares) {
    const ShardId shard = home_[share.job.index()];
    if (shard.valid()) tasks[shard.index()].bound.shares.push_back(share);
  }
  for (std::size_t s = 0; s < shards_; ++s) {
    tasks[s].plan = part_of(begun_, tasks[s], pools[s]);
    if (kept_ != nullptr) tasks[s].kept = part_of(*kept_, tasks[s], pools[s]);
  }
  horizon_plan::divide_limits(problem_, over_all_, tasks);
  return tasks;
}

HorizonGuests HorizonShards::guests(ShardId shard, std::span<const HorizonOffer> offers) const {
  HorizonGuests guests;
  PoolMap pools(divided_.pools.size());
  std::size_t number = 0;
  for (const PoolId pool : parts_[shard.index()]) pools[pool.index()] = PoolId(number++);
  for (const HorizonOffer& offer : offers) {
    if (home_[offer.job.index()] == shard || !can_run_in(offer.job, shard)) continue;
    horizon_plan::append_job(divided_, offer.job, pools, guests.jobs.problem);
    guests.jobs.names.push_back(offer.job);
    guests.costs.push_back(offer.cost);
  }
  return guests;
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
    if (by_job[j] != nullptr) append_start(plan, JobId(j), by_job[j]->start, by_job[j]->shares);
  }
  assign_devices(problem_, plan);
  return plan;
}

Plan HorizonShards::completed(const StopToken& stop) const {
  Plan plan = this->plan();
  const bool limited =
      !problem_.quotas.empty() || !problem_.licenses.empty() || !problem_.budgets.empty();
  std::vector<JobId> waiting;
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    if (problem_.options_of(problem_.jobs[j]).empty()) continue;
    const bool tried = whole_[j] || problem_.jobs[j].required || limited;
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
