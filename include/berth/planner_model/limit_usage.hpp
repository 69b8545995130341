// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "berth/model/placement.hpp"
#include "berth/planner_model/coupling_limits.hpp"

namespace berth::planner_model {

/// Use of the limits by some placements, and how much of each they are allowed. Without limits
/// (null) it counts nothing and allows everything.
class LimitUsage {
 public:
  explicit LimitUsage(const model::Instance& instance, const CouplingLimits* limits = nullptr);

  void add(const model::JobPlacement& placed) { count(placed, +1); }
  void remove(const model::JobPlacement& placed) { count(placed, -1); }

  /// Everything is allowed at first.
  void allow(std::size_t limit, std::int64_t amount) { allowance_[limit] = amount; }

  [[nodiscard]] std::size_t size() const { return use_.size(); }
  [[nodiscard]] const CouplingLimits* limits() const { return limits_; }
  [[nodiscard]] std::int64_t use(std::size_t limit) const { return use_[limit]; }
  [[nodiscard]] std::int64_t allowance(std::size_t limit) const { return allowance_[limit]; }
  /// Allowance less use; negative when more is used.
  [[nodiscard]] std::int64_t left(std::size_t limit) const {
    return allowance_[limit] == model::kNoLimit ? model::kNoLimit : allowance_[limit] - use_[limit];
  }

  /// The limits of queues that the job counts for.
  [[nodiscard]] std::span<const std::uint32_t> quotas_of(JobId job) const;
  /// What the job would cost beyond its price by passing soft quotas; empty when it would pass the
  /// allowance of a hard one.
  [[nodiscard]] std::optional<double> surcharge(JobId job) const;
  /// The limits of racks and pods allow the placement.
  [[nodiscard]] bool carries(const model::JobPlacement& placed) const;
  /// A ring of the job may leave the rack of the machine (and its pod, when `width` is the
  /// cluster): placements on such machines alone keep the uplinks. True for other jobs.
  [[nodiscard]] bool may_cross(JobId job, MachineId machine, model::Level width) const;
  /// What is lost beyond prices by all that is used beyond the allowances of soft limits.
  [[nodiscard]] double surcharges() const;
  /// Value lost per 1000 units over a limit beyond the price that is paid for them anyway.
  [[nodiscard]] double rate(std::size_t limit) const;

  /// What the placement takes of one limit.
  [[nodiscard]] std::int64_t amount(std::size_t limit, const model::JobPlacement& placed) const;
  /// By limit: what it takes of each; ascending, without zeros. O(quotas + tasks log tasks).
  [[nodiscard]] std::vector<LimitAmount> amounts(const model::JobPlacement& placed) const;

 private:
  void count(const model::JobPlacement& placed, int sign);

  const model::Instance* instance_;
  const CouplingLimits* limits_;  ///< null: no limits
  std::vector<std::int64_t> use_, allowance_;
};

}  // namespace berth::planner_model
