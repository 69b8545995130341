// SPDX-License-Identifier: Apache-2.0
#include "horizon/append_rows.hpp"
#include "horizon/divided_limits.hpp"
#include "horizon/part_of_problem.hpp"

#include <utility>

#include "berth/solver/horizon_shards.hpp"

// HorizonShards: what each shard is told.
namespace berth::solver {

using horizon::JobStart;
using horizon::Plan;
using horizon::TaskShare;
using horizon_plan::PoolMap;
using horizon_plan::with_shares;

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
      part.starts[j] = with_shares(start, shares, part);
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

}  // namespace berth::solver
