// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/horizon/timeline.hpp"
#include "berth/solver/horizon_bound.hpp"
#include "berth/solver/horizon_shard.hpp"

namespace berth::solver {

/// Number of shards by which a problem in time is planned: a function of its machines and jobs
/// alone; 1 where one search over the whole cluster is better (docs/decisions/0108).
std::size_t shards_in_time(const horizon::Problem& problem);

/// A problem in time as shards: whole pods in order, where these are small enough, else racks or
/// machines, of about equal numbers of GPUs. Jobs larger than half of a shard, and jobs that depend
/// on them, are placed over the whole cluster before the others, and their machines are closed to
/// these until they end. The rest is dealt to shards; quotas, licenses and budgets of GPU-hours are
/// divided, so that plans of the shards together are a plan of the problem. Rank 0.
class HorizonShards {
 public:
  /// @param problem, bound, kept  must outlive this; kept: null or HorizonPlanOptions::kept
  HorizonShards(const horizon::Problem& problem, const HorizonBound& bound, std::size_t shards,
                const horizon::Plan* kept);

  [[nodiscard]] std::size_t size() const { return shards_; }

  /// Places the large jobs, and deals the others by a list plan over the pools of the shards.
  void deal(const StopToken& stop);
  /// Goes on from a plan on machines. @param homes  by JobId: the shard of a job that waits, or -1
  /// @return false when jobs over several shards use limits of racks or pods: these have no shards
  bool restore(const horizon::Plan& plan, std::span<const std::int32_t> homes);

  /// False when shards made from any plan of theirs are the same: no limit is divided, and each job
  /// has a shard.
  [[nodiscard]] bool change_with_plan() const;

  /// What each shard plans. @param machine_visits  of all shards together
  [[nodiscard]] std::vector<HorizonShardTask> tasks(std::int64_t machine_visits) const;
  /// Offered jobs as a shard sees them, without those that are its own or cannot run there.
  [[nodiscard]] HorizonGuests guests(ShardId shard, std::span<const HorizonOffer> offers) const;
  [[nodiscard]] ShardId home(JobId job) const { return home_[job.index()]; }
  void move(JobId job, ShardId to) { home_[job.index()] = to; }
  [[nodiscard]] const std::vector<ShardId>& homes() const { return home_; }

  /// The plan of a shard, by its names. @pre `start`
  void add(ShardId shard, std::span<const JobId> names, const horizon::Plan& plan);
  /// Begins a plan with the jobs that no shard has.
  void start();
  /// The plan of all that has been added since, with devices.
  [[nodiscard]] horizon::Plan plan() const;
  /// The same after jobs that wait and may be held by several shards together, or whose limits were
  /// divided, have been placed in the room that it leaves.
  [[nodiscard]] horizon::Plan completed(const StopToken& stop) const;

 private:
  void place_whole(const StopToken& stop);
  void divide_pools();
  void deal_jobs(const StopToken& stop);
  void keep_components_together();
  [[nodiscard]] ShardId shard_of(const horizon::Plan& plan, JobId job) const;
  [[nodiscard]] horizon::Plan part_of(const horizon::Plan& plan, const HorizonShardTask& task,
                                      std::span<const PoolId> pools) const;
  [[nodiscard]] bool can_run_in(JobId job, ShardId shard) const;

  const horizon::Problem& problem_;
  const HorizonBound& bound_;
  const horizon::Plan* kept_;
  std::size_t shards_;
  std::vector<ShardId> shard_of_machine_;
  std::vector<bool> whole_;                 ///< by JobId: no shard has the job
  std::vector<ShardId> home_;               ///< by JobId; invalid: no shard has the job
  horizon::Plan over_all_;                  ///< of the jobs without home, on all machines
  horizon::Problem divided_;                ///< its pools are parts of one shard each
  std::vector<PoolId> pool_of_part_;        ///< by PoolId of `divided_`
  std::vector<std::vector<PoolId>> parts_;  ///< by shard
  horizon::Plan begun_;                     ///< of `divided_`: over pools, or with machines
  bool planned_ = false;                    ///< `begun_` is with machines
  std::vector<horizon::RemovedJob> added_;  ///< since `start`
};

}  // namespace berth::solver
