// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "berth/solver/occupancy.hpp"
#include "berth/solver/shard.hpp"

namespace berth::solver {

/// What a shard holds; edited by the functions on shards.
struct ShardState {
  ShardId id;
  const planner_model::Valuation* valuation;
  const planner_model::Pools* pools;
  std::vector<MachineId> machines;
  ShardOptions options;
  RunContext run;
  Occupancy occupancy;
  std::set<JobId> evicted = {};          ///< unplaced, and not tried by `improve` yet
  std::vector<double> least_price = {};  ///< by GPU type: least price per GPU over the cluster
  std::vector<TaskPrice> task_prices = {};
  bool had_running_jobs = false;  ///< some jobs were here before the relaxation
  /// Limits of racks and pods, ascending: all machines are here; some are.
  std::vector<std::size_t> own_limits = {}, shared_limits = {};

  [[nodiscard]] const model::Workload& workload() const { return valuation->instance().workload; }

  /// Single tasks that only look at the GPU type: what the pattern LP packs.
  [[nodiscard]] bool packable(JobId job) const {
    return valuation->place_independent(job) && workload().tasks(workload().job(job)) == 1;
  }

  [[nodiscard]] std::int64_t gpus() const;  ///< of all machines
  /// Best priced profit the job misses while it waits.
  [[nodiscard]] double regret(JobId job) const;

  struct RepackResult;
  RepackResult repack(const StopToken& stop);
  void set_task_prices(RepackResult repack_result);
  [[nodiscard]] double recoverable_share(std::span<const JobId> singles) const;
};

struct ShardState::RepackResult {
  double gain = 0.0;
  std::vector<JobId> singles;  ///< that were packed; none: nothing was
  std::vector<TaskPrice> prices;
  std::vector<double> gpu_worth;  ///< as in PackResult
};

/// Finds of which racks and pods with a limit it has all machines, and of which only some.
void classify_place_limits(ShardState& shard);

}  // namespace berth::solver
