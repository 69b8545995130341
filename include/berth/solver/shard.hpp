// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/pools.hpp"
#include "berth/model/value.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {

struct ShardOptions {
  double gap = 1e-4;    ///< fraction at which the local relaxation may stop, > 0
  int sweeps = 3;       ///< depth of the ejection search per call of improve, >= 0
  StopToken stop = {};  ///< every search ends then; what was found so far stays
};

/// A job its shard could not place. Trivially copyable: `comm` ships it as it stands.
struct Offer {
  JobId job;
  ShardId source;
  double regret = 0.0;  ///< value the job could still add at most; importance of the offer
};

/// What a shard would gain by taking a job, on its present content.
struct Bid {
  JobId job;
  ShardId shard;
  double gain = 0.0;  ///< value of the job here minus value of the jobs it would push out; > 0
};

/// What room costs a shard at least: no jobs whose going frees 2^k GPUs of the type are worth less
/// than least[k]; infinity when there are none. Trivially copyable.
struct Quote {
  ShardId shard;
  GpuTypeId type;
  std::array<double, 12> least = {};
};

/// Everything a shard's future depends on beside its machines, the prices and the options.
struct ShardContent {
  model::Placement placed = {};        ///< on this shard's machines alone
  std::vector<JobId> unplaced = {};    ///< ascending; jobs it may still place
  std::vector<JobId> pushed_out = {};  ///< ascending; those `improve` has not tried yet
};

/// One logical piece of the cluster and the jobs that live there: local relaxation, rounding,
/// and the moves the coordinator asks for. Only its owner edits it. Everything it does is a
/// function of its machines, its jobs, the prices and the options: not of ranks or threads.
class Shard {
 public:
  /// @param machines  ascending; the valuation and the pools must outlive the shard
  Shard(ShardId id, const model::Valuation& valuation, const model::Pools& pools,
        std::vector<MachineId> machines, const ShardOptions& options);
  ~Shard();
  Shard(Shard&&) noexcept;

  /// Takes room off for a job placed from outside (a gang that spans shards); its tasks on
  /// machines of other shards are ignored. @pre before `plan`
  void reserve(const model::JobPlacement& placement);

  /// A running job of this shard starts where it is; `plan` may push it out for a better one.
  /// @pre before `plan`
  void keep(const model::JobPlacement& placement);

  /// Relax and round: by the pattern LP where every job on GPUs is a single task that looks at the
  /// GPU type only, else by the dive on the market's softmax primal with its ejection chains; then
  /// whoever fits into idle room.
  /// @param prices  by PoolId of the whole cluster, value per GPU
  /// @param share   ends what may take long; idle room is filled all the same, by a patient `stop`
  void plan(std::span<const JobId> jobs, std::span<const double> prices,
            const StopToken& share = {});

  /// Instead of `plan`: takes over what another shard planned, or what this one once held.
  void restore(ShardContent content);
  [[nodiscard]] ShardContent content() const;

  /// Whether a job worth this may be tried; whether it may lie as placed (and then is counted).
  using MayTry = std::function<bool(JobId, double)>;
  using Admit = std::function<bool(const model::JobPlacement&, double)>;

  /// Idle room to unplaced jobs, most value per GPU first, as far as the two allow.
  void refill(const MayTry& may_try, const Admit& admit);

  /// All unplaced jobs of positive regret, ascending.
  [[nodiscard]] std::vector<Offer> offers() const;
  [[nodiscard]] bool waits(JobId job) const;  ///< it is this shard's, and unplaced

  /// One for each GPU type the shard has. O(residents log residents).
  [[nodiscard]] std::vector<Quote> quotes() const;

  /// Bids for those of `jobs` this shard would gain from, in their order; each bid on its own.
  [[nodiscard]] std::vector<Bid> bids(std::span<const JobId> jobs) const;

  /// Places the job if that still gains at least `at_least`; jobs pushed out become unplaced
  /// here. Returns the value added, 0 when refused (nothing has changed then).
  double realise(JobId job, double at_least);

  /// What one more GPU of each type costs here: 0 when one is idle, else the least value per GPU
  /// of a job that would have to go; infinity for a type the shard does not have. By GpuTypeId.
  [[nodiscard]] std::vector<double> marginal_prices() const;

  /// Prices per GPU type that regrets are measured against from now on.
  void update_prices(std::span<const double> by_type);

  /// The job was placed elsewhere: forget it.
  void let_go(JobId job);

  /// Ejection search for the jobs pushed out since the last call, and for those they push out in
  /// turn, at most `sweeps` deep. Returns the value added.
  double improve();

  [[nodiscard]] ShardId id() const;
  [[nodiscard]] double gpus() const;                 ///< of all its machines
  [[nodiscard]] double value() const;                ///< of all jobs placed here
  [[nodiscard]] model::Placement placement() const;  ///< ascending JobId
  [[nodiscard]] const std::vector<ShapePrice>& shape_prices() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::solver
