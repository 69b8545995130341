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

/// Splits `amount` in proportion to the demands into whole units whose sum is `amount` (0 if all
/// demands are 0). Each share differs from the exact one by less than one unit.
std::vector<std::int64_t> proportional_shares(std::int64_t amount,
                                              std::span<const std::int64_t> demands);

/// Allowances of limits for the shards (resource-directive decomposition: Geoffrion 1970). The
/// allowances of a limit add up to at most the limit, so the plan keeps it whatever the shards do.
/// A limit of a rack or pod whose machines are all in one shard belongs to that shard.
///
/// A function of the shards' contents and the spanning gangs; equal on all ranks and independent of
/// the owners. Each count of the shards' use is one all-gather of 32 B per shard and shared limit.
class LimitAllocation {
 public:
  /// @param limits    not empty; must outlive this
  /// @param spanning  gangs over several shards, which use limits too
  LimitAllocation(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                  const planner_model::CouplingLimits& limits,
                  const model::Placement& spanning = {});

  [[nodiscard]] const planner_model::CouplingLimits& limits() const { return limits_; }

  /// Sets the placements that span shards, in place of the former ones.
  void set_spanning(const model::Placement& spanning);
  /// Sets the placements that span shards if each rank has a part of them. Collective.
  void set_spanning_parts(const model::Placement& part);

  /// Makes the plan keep its limits. Where a limit is exceeded, jobs of least value per GPU (per
  /// unit) become unplaced, required ones last, nested quotas first; for a soft quota only jobs
  /// whose value is below its penalty. Then unplaced jobs fill idle room, with evictions, within
  /// the limits. Gangs dropped from `spanning` are unplaced jobs of the shard of their first task.
  void enforce(std::span<solver::Shard> mine, model::Placement& spanning);

  /// Counts the shards' use and sets each allowance to it. Collective.
  void freeze(std::span<solver::Shard> mine);
  /// Counts the shards' use; then the shards of largest demand, one after the other, fill idle
  /// capacity from the whole slack; then splits the remaining slack of each limit in proportion to
  /// demand. Collective.
  void distribute_slack(std::span<solver::Shard> mine);

  /// By quota: unused GPU thousandths at the last count, >= 0.
  [[nodiscard]] std::vector<std::int64_t> slack() const;
  /// Penalties of the soft limits exceeded at the last count, without use of limits of one shard by
  /// that shard, in units of value.
  [[nodiscard]] double penalties() const;
  /// The quotas that the job uses.
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
  planner_model::LimitUsage measure_;         ///< computes amounts of placements; its use is 0
  std::vector<std::int64_t> spanning_use_;    ///< by limit: use of the spanning gangs
  std::vector<solver::LimitUse> limit_uses_;  ///< of all shards; ascending (limit, shard)
  std::vector<std::int64_t> use_;             ///< by limit, without use of limits of one shard
};

/// By limit: use by the placements, of which each rank passes a part. Equal on all ranks.
/// Collective.
std::vector<std::int64_t> limit_use(const comm::Communicator& comm,
                                    const model::InstanceView& instance,
                                    const planner_model::CouplingLimits& limits,
                                    const model::Placement& part);

/// True when this use, by limit, exceeds no hard limit.
bool within_limits(const planner_model::CouplingLimits& limits, std::span<const std::int64_t> use);

}  // namespace berth::coordinator
