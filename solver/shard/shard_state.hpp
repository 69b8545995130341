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

/// State of a shard, which the functions on shards edit.
struct ShardState {
  ShardId id;
  const planner_model::Valuation* valuation;
  const planner_model::Pools* pools;
  std::vector<MachineId> machines;
  ShardOptions options;
  RunContext run;
  Occupancy occupancy;
  std::set<JobId> evicted = {};          ///< unplaced jobs that `improve` has not tried
  std::vector<double> least_price = {};  ///< by GPU type: least price per GPU over the cluster
  std::vector<std::vector<TaskPrice>> task_prices = {};  ///< as Shard::task_prices
  bool had_running_jobs = false;  ///< some jobs were placed before the relaxation
  /// Limits of racks and pods, ascending: with all machines in this shard; with some.
  std::vector<std::size_t> own_limits = {}, shared_limits = {};

  [[nodiscard]] const model::WorkloadView& workload() const {
    return valuation->instance().workload;
  }

  /// True for single tasks whose value depends on the GPU type only: jobs of the pattern LP.
  [[nodiscard]] bool packable(JobId job) const {
    return valuation->place_independent(job) && workload().tasks(workload().job(job)) == 1;
  }

  [[nodiscard]] std::int64_t gpus() const;  ///< of all machines
  /// True for jobs that the pattern LP places with gangs: the value depends on the GPU type only,
  /// and the job pays for no move. Without GPUs: single tasks that any machine may hold.
  [[nodiscard]] bool packable_with_gangs(JobId job) const {
    const model::Job& record = workload().job(job);
    const bool anywhere = record.gpu_types == ~std::uint64_t{0} && workload().tasks(record) == 1;
    return valuation->place_independent(job) && !valuation->pays_for_moves(job) &&
           (anywhere || workload().gpu_milli(record) > 0);
  }

  /// Best profit that an unplaced job misses, at a price per GPU by type.
  [[nodiscard]] double regret(JobId job, std::span<const double> price) const;
  [[nodiscard]] double regret(JobId job) const { return regret(job, least_price); }

  struct RepackResult;
  std::vector<RepackResult> repack(const StopToken& stop);
  RepackResult pack_anew(std::vector<JobId> jobs, std::span<const JobId> packed,
                         const PackOptions& quick, const StopToken& stop);
  RepackResult pack_gangs(std::vector<JobId> jobs, const PackOptions& quick, const StopToken& stop);
  void add_task_prices(RepackResult repack_result);
  [[nodiscard]] double recoverable_share(std::span<const JobId> singles) const;
};

struct ShardState::RepackResult {
  double gain = 0.0;
  std::vector<JobId> jobs;  ///< packed jobs
  std::vector<TaskPrice> prices;
  std::vector<double> gpu_worth;  ///< as in PackResult
  double bound = 0.0;             ///< as in PackResult
  bool relaxed = false;           ///< a relaxation was solved
  std::vector<JobId> unplaced;    ///< jobs without a place in the new packing, kept or not
};

/// Sets `own_limits` and `shared_limits`.
void classify_place_limits(ShardState& shard);

}  // namespace berth::solver
