// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shard/insertion.hpp"
#include "shard/occupancy.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "berth/solver/shard.hpp"

namespace berth::solver {

struct Shard::LocalState {
  ShardId id;
  const model::Valuation* valuation;
  const model::Pools* pools;
  std::vector<MachineId> machines;
  ShardOptions options;
  RunContext run;
  Occupancy occupancy;
  std::set<JobId> unplaced = {};
  std::set<JobId> evicted = {};          ///< those of `unplaced` that `improve` has not tried yet
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
  [[nodiscard]] double best_value(JobId job) const;
  [[nodiscard]] double profit(JobId job, std::span<const double> by_type) const;
  /// Best priced profit the job misses while it waits.
  [[nodiscard]] double regret(JobId job) const { return profit(job, least_price); }
  void record_all(model::Placement placed);
  void dive_all(std::span<const JobId> jobs, std::span<const double> prices, const StopToken& stop);
  [[nodiscard]] std::span<const double> extra_smoothings() const;
  void pack_all(std::span<const JobId> jobs, const StopToken& stop);
  [[nodiscard]] double recoverable_share(std::span<const JobId> singles) const;
  struct RepackResult;
  RepackResult repack(const StopToken& stop);
  void set_task_prices(RepackResult repack_result);
  void fill_idle_capacity();
  double improve_batch(std::span<const JobId> batch);
  InsertionOutcome insert(JobId job, const Insertion& found, double at_least);
  /// Searches by these values; `limit_usage` counts what is placed, and has the allowances.
  double search(const model::Valuation& by, std::span<const double> prices,
                const SearchEffort& effort, model::LimitUsage& limit_usage);
  double search_by_both_values(std::span<const double> prices, const SearchEffort& effort);
  [[nodiscard]] bool has_limit_prices() const;
  [[nodiscard]] model::LimitUsage ledger_under(const model::CouplingLimits& limits) const;
  [[nodiscard]] std::pair<std::size_t, double> score(const model::CouplingLimits& limits) const;
  void classify_place_limits();
  [[nodiscard]] std::int64_t demand(std::size_t limit) const;
};

struct Shard::LocalState::RepackResult {
  double gain = 0.0;
  std::vector<JobId> singles;  ///< that were packed; none: nothing was
  std::vector<TaskPrice> prices;
  std::vector<double> gpu_worth;  ///< as in PackResult
};

}  // namespace berth::solver
