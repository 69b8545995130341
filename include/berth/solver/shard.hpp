// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/limit_usage.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/pools.hpp"
#include "berth/model/precedence.hpp"
#include "berth/model/value.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/pack.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::solver {

/// When and how the single tasks of a shard are placed anew by patterns (`Shard::repack`).
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

/// A job its shard could not place. Trivially copyable: `comm` ships it as it stands.
struct JobOffer {
  JobId job;
  ShardId source;
  double regret = 0.0;  ///< value the job could still add at most; importance of the offer
};

/// What a shard would gain by taking a job, on its present content.
struct Bid {
  JobId job;
  ShardId shard;
  double gain = 0.0;       ///< value of the job here minus value of the jobs it would evict; > 0
  std::int64_t drawn = 0;  ///< GPU thousandths it needs of each of its quotas beyond what is used
};

/// Use of a limit by one shard that shares it with others: a quota, or one of a rack or a pod of
/// which other shards have machines too. Trivially copyable.
struct LimitUse {
  ShardId shard;
  std::uint32_t limit = 0;  ///< as in `model::CouplingLimits`
  std::int64_t use = 0;
  std::int64_t demand = 0;  ///< what its unplaced jobs would take
};

/// A placed job whose eviction frees some of a limit. Trivially copyable.
struct EvictionCandidate {
  std::int64_t amount = 0;
  model::Precedence precedence;  ///< by value per unit of what it takes
};

/// Lower bounds on what room costs a shard: no jobs whose eviction frees 2^k GPUs of the type are
/// worth less than least[k]; infinity when there are none. Trivially copyable.
struct EvictionCost {
  ShardId shard;
  GpuTypeId type;
  std::array<double, 12> least = {};
};

/// Everything a shard's future depends on beside its machines, the prices and the options.
struct ShardContent {
  model::Placement placed = {};      ///< on this shard's machines alone
  std::vector<JobId> unplaced = {};  ///< ascending; jobs it may still place
  std::vector<JobId> evicted = {};   ///< ascending; those `improve` has not tried yet
};

/// One logical piece of the cluster and the jobs assigned to it: local relaxation, rounding,
/// and the moves the coordinator asks for. Only its owner edits it. Everything it does is a
/// function of its machines, its jobs, the prices and the options: not of ranks or threads.
class Shard {
 public:
  /// @param machines  ascending; the valuation and the pools must outlive the shard
  /// @param run       its limits are kept as far as the shard was told (`allow`)
  Shard(ShardId id, const model::Valuation& valuation, const model::Pools& pools,
        std::vector<MachineId> machines, const ShardOptions& options, const RunContext& run = {});
  ~Shard();
  Shard(Shard&&) noexcept;
  Shard& operator=(Shard&&) noexcept;

  /// An empty shard on these machines (ascending), otherwise like this one.
  [[nodiscard]] Shard empty_copy(ShardId id, std::vector<MachineId> machines) const;

  /// Takes room off for a job placed from outside (a gang that spans shards); its tasks on
  /// machines of other shards are ignored. @pre before `plan`
  void reserve(const model::JobPlacement& placement);

  /// A running job of this shard starts where it is; `plan` may evict it for a better one.
  /// @pre before `plan`
  void add_running(const model::JobPlacement& placement);

  /// Relax and round: by the pattern LP where every job on GPUs is a single task that looks at the
  /// GPU type only, else by the dive on the market's softmax primal with its ejection chains; then
  /// idle room is filled.
  /// @param prices  by PoolId of the whole cluster, value per GPU
  /// @param share   ends what may take long; idle room is filled all the same, by a patient `stop`
  void plan(std::span<const JobId> jobs, std::span<const double> prices,
            const StopToken& share = {});

  /// Instead of `plan`: takes over what another shard planned, or what this one once held.
  void restore(ShardContent content);
  [[nodiscard]] ShardContent content() const;

  /// Idle room to unplaced jobs, most value per GPU first.
  void fill_idle_capacity();

  /// From now on the shard may use so much of a limit. Before, it may use any amount.
  void allow(std::size_t limit, std::int64_t amount);
  /// From now on the shard may use of the limits it shares no more than it does now.
  void freeze_limits();
  /// The limits it shares with others, ascending. O(unplaced jobs x limits).
  [[nodiscard]] std::vector<LimitUse> limit_uses() const;
  /// Limits of racks and pods of which it has all machines, ascending.
  [[nodiscard]] const std::vector<std::size_t>& own_limits() const;
  /// What the placed jobs use beyond its allowance.
  [[nodiscard]] std::int64_t excess(std::size_t limit) const;
  /// The placed jobs to evict first to free `amount` of a limit, enough of them if there are:
  /// those worth least per unit, required ones last: the reverse of precedence.
  [[nodiscard]] std::vector<EvictionCandidate> eviction_candidates(std::size_t limit,
                                                                   std::int64_t amount) const;
  /// Makes a placed job unplaced. No effect on a job that is not placed here.
  void unplace(JobId job);
  /// Gives back what `reserve` took; the shard of the first task has the job from now on.
  void unreserve(const model::JobPlacement& placement);

  /// All unplaced jobs of positive regret, ascending.
  [[nodiscard]] std::vector<JobOffer> offers() const;
  [[nodiscard]] bool is_waiting(JobId job) const;  ///< it is this shard's, and unplaced

  /// All its jobs, placed or not; any order.
  [[nodiscard]] std::vector<JobId> jobs() const;

  /// One for each GPU type the shard has. O(residents log residents).
  [[nodiscard]] std::vector<EvictionCost> eviction_costs() const;

  /// Bids for those of `jobs` this shard would gain from, in their order; each bid on its own.
  /// @param left  by quota: what all shards leave of it. A job that this suffices for may draw on
  ///              it; another must find room in the shard's own allowance, or make some
  [[nodiscard]] std::vector<Bid> bids(std::span<const JobId> jobs,
                                      std::span<const std::int64_t> left = {}) const;

  /// Places the job if that still gains at least `at_least`; jobs evicted become unplaced
  /// here. Returns the value added, 0 when refused (nothing has changed then).
  /// @param drawn  what the shard may use more of each of the job's quotas if it places the job
  double realise(JobId job, double at_least, std::int64_t drawn = 0);

  /// What one more GPU of each type costs here: 0 when one is idle, else the least value per GPU
  /// of a job that would be evicted; infinity for a type the shard does not have. By GpuTypeId.
  [[nodiscard]] std::vector<double> marginal_prices() const;

  /// Prices per GPU type that regrets are measured against from now on.
  void update_prices(std::span<const double> by_type);

  /// The job was placed elsewhere: forget it.
  void forget(JobId job);

  /// Ejection search for the jobs evicted since the last call, and for those they evict in
  /// turn, at most `sweeps` deep. Returns the value added.
  double improve();

  /// Cyclic exchanges, repartitions and ejection chains (`solver::improve`) through all its jobs,
  /// placed or not, within what it may use of limits. Returns the value added.
  /// @param prices  by PoolId of the whole cluster, value per GPU; they decide no acceptance
  double search(std::span<const double> prices, const SearchEffort& effort);

  /// Where more than 4 % of the GPUs are idle and unplaced single tasks ask for as many, all
  /// single tasks are placed anew by patterns of machines (`pack`) into the room that gangs and
  /// running jobs leave. Kept when it is worth more. Nothing under quotas and uplinks, which
  /// patterns do not know. @return what it gained
  double repack();

  [[nodiscard]] ShardId id() const;
  [[nodiscard]] double gpus() const;                 ///< of all its machines
  [[nodiscard]] double value() const;                ///< of all jobs placed here
  [[nodiscard]] model::Placement placement() const;  ///< ascending JobId
  /// Of `plan`'s pattern LP, if it had one; with gangs beside it they have prices too.
  [[nodiscard]] const std::vector<TaskPrice>& task_prices() const;

 private:
  struct LocalState;
  std::unique_ptr<LocalState> state_;
};

}  // namespace berth::solver
