// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/limit_usage.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/shard_limits.hpp"

namespace berth::coordinator {

/// Splits `amount` in proportion to the demands, in whole units that sum to it exactly (to 0 when
/// all demands are 0). Shares differ from the exact ones by less than one unit.
std::vector<std::int64_t> proportional_shares(std::int64_t amount,
                                              std::span<const std::int64_t> demands);

/// The limits between the shards: each shard may use so much of a limit as it was allowed, and what
/// all are allowed is within the limit, so that whatever they do the plan keeps it. Limits of racks
/// and pods of which one shard has all machines are that shard's alone.
///
/// A function of the shards' contents and the spanning gangs: the same on all ranks, whoever owns
/// what. One all-gather of 32 B per shard and shared limit each time the shards are counted.
class LimitAllocation {
 public:
  /// @param limits    not empty; must outlive this
  /// @param spanning  gangs over several shards, which use limits too
  LimitAllocation(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                  const planner_model::CouplingLimits& limits,
                  const model::Placement& spanning = {});

  [[nodiscard]] const planner_model::CouplingLimits& limits() const { return limits_; }

  /// From now on these placements span shards, and no others.
  void set_spanning(const model::Placement& spanning);
  /// The same where each of them is known to one rank only. Collective.
  void set_spanning_parts(const model::Placement& part);

  /// Makes a plan keep its limits: where one is passed the jobs worth least per GPU (per unit)
  /// wait again, required ones last, nested quotas first; of a soft quota only those that are worth
  /// less than its penalty. Then who waits takes idle room, and may push others out, as far as the
  /// limits allow. Gangs dropped from `spanning` wait in the shard of their first task.
  void enforce(std::span<solver::Shard> mine, model::Placement& spanning);

  /// Counts what the shards use, and allows each shard exactly that. Collective.
  void freeze(std::span<solver::Shard> mine);
  /// The same, then splits the slack of each limit between the shards in proportion to demand; the
  /// shards of largest demand first fill idle capacity in turns. Collective.
  void distribute_slack(std::span<solver::Shard> mine);

  /// By quota: what was unused when the shards were last counted, thousandths of GPUs, >= 0.
  [[nodiscard]] std::vector<std::int64_t> slack() const;
  /// Penalties of soft quotas exceeded at that count, in units of value.
  [[nodiscard]] double penalties() const;
  /// The quotas that the job counts for.
  [[nodiscard]] std::span<const std::uint32_t> quotas_of(JobId job) const {
    return measure_.quotas_of(job);
  }

 private:
  void count_use(std::span<const solver::Shard> mine);
  void set_allowances(std::span<solver::Shard> mine, bool shares);
  void drop_excess(std::span<solver::Shard> mine, model::Placement& spanning, std::size_t limit);
  void drop_excess_of_own_limits(std::span<solver::Shard> mine) const;
  [[nodiscard]] std::int64_t excess(std::size_t limit) const;

  const comm::Communicator& comm_;
  const planner_model::Valuation& valuation_;
  const planner_model::CouplingLimits& limits_;
  planner_model::LimitUsage measure_;         ///< computes amounts; counts nothing itself
  std::vector<std::int64_t> spanning_use_;    ///< by limit: use of the spanning gangs
  std::vector<solver::LimitUse> limit_uses_;  ///< of all shards; ascending (limit, shard)
  std::vector<std::int64_t> use_;             ///< by limit, without those of one shard
};

/// By limit: what the placements use of which each rank has a part. The same on every rank.
/// Collective.
std::vector<std::int64_t> limit_use(const comm::Communicator& comm, const model::Instance& instance,
                                    const planner_model::CouplingLimits& limits,
                                    const model::Placement& part);

/// Whether so much use keeps all hard limits.
bool within_limits(const planner_model::CouplingLimits& limits, std::span<const std::int64_t> use);

}  // namespace berth::coordinator
