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

/// Options of `solver::repack`. `idle` and the work limits: docs/decisions/0022.
struct RepackOptions {
  double idle = 0.04;      ///< least recoverable share of the shard's GPUs, 0 .. 1
  double gap = 1e-3;       ///< gap of the pattern LP, a fraction; gangs lose more. Not tuned
  int neighbourhoods = 2;  ///< most rounds of the large neighbourhood search; chosen, not tuned
  std::int64_t work = 100'000'000;     ///< as PackOptions::work
  std::int64_t work_per_gpu = 20'000;  ///< limit of the work per GPU of the shard
};

/// How the plan of a shard with running jobs starts (docs/decisions/0029).
enum class RunningStart : std::uint8_t {
  better,  ///< kept and planned anew; the larger value counts
  keep,    ///< running jobs in their places
};

struct ShardOptions {
  RunningStart running = RunningStart::better;
  int sweeps = 3;         ///< depth of the ejection search in `improve`, >= 0; chosen, not tuned
  DiveOptions dive = {};  ///< for jobs with gangs or preferred places
  PackOptions pack = {};  ///< for single tasks only
  RepackOptions repack = {};
};

/// State from which a shard can be restored, given its machines, the prices and the options.
struct ShardContent {
  model::Placement placed = {};      ///< on machines of this shard only
  std::vector<JobId> unplaced = {};  ///< ascending; unplaced jobs of the shard
  std::vector<JobId> evicted = {};   ///< ascending; unplaced jobs that `improve` has not tried
};

template <class Archive>
void describe(Archive& archive, ShardContent& content) {
  archive(content.placed, content.unplaced, content.evicted);
}

struct ShardState;

/// A logical piece of the cluster and the jobs assigned to it. Functions on shards: planning in
/// `shard_planning.hpp`, exchange of jobs with other shards in `shard_bidding.hpp`, quotas and
/// other limits in `shard_limits.hpp`. Only the owner of a shard edits it. Results depend on its
/// machines, its jobs, the prices and the options, not on ranks or threads.
class Shard {
 public:
  /// @param machines  ascending; the valuation and the pools must outlive the shard
  /// @param run       its limits are kept within the allowances set by `allow`
  Shard(ShardId id, const planner_model::Valuation& valuation, const planner_model::Pools& pools,
        std::vector<MachineId> machines, const ShardOptions& options, const RunContext& run = {});
  ~Shard();
  Shard(Shard&&) noexcept;
  Shard& operator=(Shard&&) noexcept;

  /// A shard without jobs on these machines (ascending), with the settings of this one.
  [[nodiscard]] Shard empty_copy(ShardId id, std::vector<MachineId> machines) const;

  /// Reserves the room of a job that spans shards; ignores its tasks on machines of other shards.
  /// @pre the shard is not planned
  void reserve(const model::JobPlacement& placement);

  /// Restores jobs and placements, in place of planning.
  void restore(ShardContent content);
  [[nodiscard]] ShardContent content() const;

  /// Makes a placed job unplaced. No effect on a job that is not placed here.
  void unplace(JobId job);
  /// Frees the room that `reserve` took; the job becomes an unplaced job of the shard of its first
  /// task.
  void unreserve(const model::JobPlacement& placement);

  [[nodiscard]] bool is_waiting(JobId job) const;  ///< an unplaced job of this shard
  /// All jobs of the shard, placed or not; any order.
  [[nodiscard]] std::vector<JobId> jobs() const;

  /// Sets the prices per GPU type from which regrets are computed.
  void update_prices(std::span<const double> by_type);

  /// Removes a job that another shard has placed.
  void forget(JobId job);

  [[nodiscard]] ShardId id() const;
  [[nodiscard]] double gpus() const;                 ///< of all its machines
  [[nodiscard]] double value() const;                ///< of all jobs placed here
  [[nodiscard]] model::Placement placement() const;  ///< ascending JobId
  /// Prices of each pattern LP of `plan`: of single tasks, of all tasks. Those that a pattern LP
  /// leaves out have prices too, so that each list proves a bound.
  [[nodiscard]] const std::vector<std::vector<TaskPrice>>& task_prices() const;

  /// For the functions on shards in this library.
  [[nodiscard]] ShardState& state() { return *state_; }
  [[nodiscard]] const ShardState& state() const { return *state_; }

 private:
  std::unique_ptr<ShardState> state_;
};

}  // namespace berth::solver
