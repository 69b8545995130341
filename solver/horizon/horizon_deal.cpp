// SPDX-License-Identifier: Apache-2.0
#include "horizon/curves_of_bound.hpp"
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
#include "berth/solver/horizon_shards.hpp"

// HorizonShards: which shard each job belongs to.
namespace berth::solver {

using horizon::Gpus;
using horizon::JobStart;
using horizon::Machine;
using horizon::Option;
using horizon::Outage;
using horizon::Plan;
using horizon::TaskShare;
using horizon_plan::CurvesOfBound;
using horizon_plan::ListPlanner;
using horizon_plan::MachineRun;
using horizon_plan::PlaceRule;

namespace {

/// Jobs that are larger than this share of a shard have none.
constexpr double kLargestShare = 0.5;

/// The bound without cost shares of jobs that cannot run here.
HorizonBound without_shares_of(const HorizonBound& bound, const std::vector<bool>& jobs) {
  HorizonBound result = bound;
  std::erase_if(result.shares, [&](const horizon::CostShare& share) {
    return jobs[share.job.index()] || jobs[share.after.index()];
  });
  return result;
}

}  // namespace

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

}  // namespace berth::solver
