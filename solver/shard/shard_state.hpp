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

struct Shard::State {
  ShardId id;
  const model::Valuation* valuation;
  const model::Pools* pools;
  std::vector<MachineId> machines;
  ShardOptions options;
  Occupancy occupancy;
  std::set<JobId> unplaced = {};
  std::set<JobId> evicted = {};       ///< those of `unplaced` that `improve` has not tried yet
  std::vector<double> cheapest = {};  ///< by GPU type: least price per GPU over the cluster
  std::vector<TaskPrice> task_prices = {};
  bool challenged = false;                     ///< some jobs were here before the relaxation
  std::vector<std::size_t> own_links = {};     ///< as limits; all machines under them are here
  std::vector<std::size_t> shared_links = {};  ///< some are

  [[nodiscard]] const model::Workload& workload() const { return valuation->instance().workload; }

  /// Single tasks that only look at the GPU type: what the pattern LP packs.
  [[nodiscard]] bool packable(JobId job) const {
    return valuation->placeless(job) && workload().tasks(workload().job(job)) == 1;
  }

  [[nodiscard]] std::int64_t gpus() const;  ///< of all machines
  [[nodiscard]] double best_value(JobId job) const;
  [[nodiscard]] double profit(JobId job, std::span<const double> by_type) const;
  /// Best priced profit the job misses while it waits.
  [[nodiscard]] double regret(JobId job) const { return profit(job, cheapest); }
  void admit(model::Placement placed);
  void dive_all(std::span<const JobId> jobs, std::span<const double> prices, const StopToken& stop);
  [[nodiscard]] std::span<const double> more_smoothings() const;
  void pack_all(std::span<const JobId> jobs, const StopToken& stop);
  [[nodiscard]] double missed(std::span<const JobId> singles) const;
  struct Repacked;
  Repacked repack(const StopToken& stop);
  void keep_prices(Repacked repacked);
  void fill_idle();
  double improve_batch(std::span<const JobId> batch);
  InsertionOutcome insert(JobId job, const Insertion& found, double at_least);
  /// Searches by these values; `ledger` counts what is placed, and has the allowances.
  double search(const model::Valuation& by, std::span<const double> prices,
                const SearchEffort& effort, model::Ledger& ledger);
  double search_twice(std::span<const double> prices, const SearchEffort& effort);
  [[nodiscard]] bool charged() const;
  [[nodiscard]] model::Ledger counted(const model::Limits& limits) const;
  [[nodiscard]] std::pair<std::size_t, double> standing(const model::Limits& limits) const;
  void tell_links();
  [[nodiscard]] std::int64_t demand(std::size_t limit) const;
};

struct Shard::State::Repacked {
  double gain = 0.0;
  std::vector<JobId> singles;  ///< that were packed; none: nothing was
  std::vector<TaskPrice> prices;
  std::vector<double> gpu_worth;  ///< as in PackResult
};

}  // namespace berth::solver
