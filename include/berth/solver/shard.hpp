// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/limit_usage.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/precedence.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/pack.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::solver {

/// When and how the single tasks of a shard are placed anew by patterns (`solver::repack`).
struct RepackOptions {
  double idle = 0.04;      ///< share of the shard's GPUs idle and asked for, from which it pays
                           ///< (docs/decisions/0022)
  double gap = 1e-3;       ///< the pattern LP is solved to, a fraction: gangs lose more than that
  int neighbourhoods = 2;  ///< local searches after the dive, at most
  std::int64_t work = 100'000'000;     ///< as in PackOptions
  std::int64_t work_per_gpu = 20'000;  ///< no more than so much for each GPU of the shard
};

struct ShardOptions {
  int sweeps = 3;         ///< depth of the ejection search per call of improve, >= 0
  DiveOptions dive = {};  ///< where gangs or places matter
  PackOptions pack = {};  ///< where all jobs are single tasks
  RepackOptions repack = {};
};

/// Everything a shard's future depends on beside its machines, the prices and the options.
struct ShardContent {
  model::Placement placed = {};      ///< on this shard's machines alone
  std::vector<JobId> unplaced = {};  ///< ascending; jobs it may still place
  std::vector<JobId> evicted = {};   ///< ascending; those `improve` has not tried yet
};

struct ShardState;

/// One logical piece of the cluster and the jobs assigned to it. Its jobs are planned by the
/// functions of `shard_planning.hpp`, dealt with other shards by those of `shard_bidding.hpp`, and
/// kept within quotas and uplinks by those of `shard_limits.hpp`. Only its owner edits it. All of
/// these are functions of its machines, its jobs, the prices and the options: not of ranks or
/// threads.
class Shard {
 public:
  /// @param machines  ascending; the valuation and the pools must outlive the shard
  /// @param run       its limits are kept as far as the shard was told (`allow`)
  Shard(ShardId id, const planner_model::Valuation& valuation, const planner_model::Pools& pools,
        std::vector<MachineId> machines, const ShardOptions& options, const RunContext& run = {});
  ~Shard();
  Shard(Shard&&) noexcept;
  Shard& operator=(Shard&&) noexcept;

  /// An empty shard on these machines (ascending), otherwise like this one.
  [[nodiscard]] Shard empty_copy(ShardId id, std::vector<MachineId> machines) const;

  /// Takes room off for a job placed from outside (a gang that spans shards); its tasks on
  /// machines of other shards are ignored. @pre before it is planned
  void reserve(const model::JobPlacement& placement);

  /// Instead of planning: takes over what another shard planned, or what this one once held.
  void restore(ShardContent content);
  [[nodiscard]] ShardContent content() const;

  /// Makes a placed job unplaced. No effect on a job that is not placed here.
  void unplace(JobId job);
  /// Gives back what `reserve` took; the shard of the first task has the job from now on.
  void unreserve(const model::JobPlacement& placement);

  [[nodiscard]] bool is_waiting(JobId job) const;  ///< it is this shard's, and unplaced

  /// All its jobs, placed or not; any order.
  [[nodiscard]] std::vector<JobId> jobs() const;

  /// Prices per GPU type that regrets are measured against from now on.
  void update_prices(std::span<const double> by_type);

  /// The job was placed elsewhere: forget it.
  void forget(JobId job);

  [[nodiscard]] ShardId id() const;
  [[nodiscard]] double gpus() const;                 ///< of all its machines
  [[nodiscard]] double value() const;                ///< of all jobs placed here
  [[nodiscard]] model::Placement placement() const;  ///< ascending JobId
  /// Of `plan`'s pattern LP, if it had one; with gangs beside it they have prices too.
  [[nodiscard]] const std::vector<TaskPrice>& task_prices() const;

  /// For the functions on shards in this library: its planning, bidding and limits.
  [[nodiscard]] ShardState& state() { return *state_; }
  [[nodiscard]] const ShardState& state() const { return *state_; }

 private:
  std::unique_ptr<ShardState> state_;
};

}  // namespace berth::solver
