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

/// Use of the limits by some placements, and the allowance of each limit. Without limits (null) it
/// counts nothing and allows every placement.
class LimitUsage {
 public:
  explicit LimitUsage(const model::InstanceView& instance, const CouplingLimits* limits = nullptr);

  void add(const model::JobPlacement& placed) { count(placed, +1); }
  void remove(const model::JobPlacement& placed) { count(placed, -1); }

  /// Sets the allowance of a limit, in its unit; at first it is kNoLimit.
  void allow(std::size_t limit, std::int64_t amount) { allowance_[limit] = amount; }

  [[nodiscard]] std::size_t size() const { return use_.size(); }
  [[nodiscard]] const CouplingLimits* limits() const { return limits_; }
  [[nodiscard]] const model::Cluster& cluster() const { return *cluster_; }
  [[nodiscard]] std::int64_t use(std::size_t limit) const { return use_[limit]; }
  [[nodiscard]] std::int64_t allowance(std::size_t limit) const { return allowance_[limit]; }
  /// Allowance less use; negative when more is used.
  [[nodiscard]] std::int64_t left(std::size_t limit) const {
    return allowance_[limit] == model::kNoLimit ? model::kNoLimit : allowance_[limit] - use_[limit];
  }

  /// The limits of queues that the job uses.
  [[nodiscard]] std::span<const std::uint32_t> quotas_of(JobId job) const;
  /// Penalty of placing the job over soft quotas, beyond the prices that it pays; empty if it would
  /// exceed the allowance of a hard quota.
  [[nodiscard]] std::optional<double> surcharge(JobId job) const;
  /// Penalty of the placement for use of spare GPUs. O(tasks log spare) with spare GPUs.
  [[nodiscard]] double surcharge_of_place(const model::JobPlacement& placed) const;
  /// True when the hard limits of racks and pods allow the placement.
  [[nodiscard]] bool carries(const model::JobPlacement& placed) const;
  /// False when the limits of the machine's rack and pod do not leave enough for a task of the job
  /// there in a placement of this width. Exact for rings: a placement on machines that admit them
  /// keeps the limits. True for jobs without a ring.
  [[nodiscard]] bool admits(JobId job, MachineId machine, model::Level width) const;
  /// How many tasks of the shape, at most `most`, the limits on resources leave enough for on this
  /// machine, once its rack and pod have `freed` more.
  [[nodiscard]] std::int64_t count(MachineId machine, const model::Shape& shape, std::int64_t most,
                                   const model::Resources& freed = {}) const;
  /// There are limits on resources.
  [[nodiscard]] bool limits_resources() const { return limits_resources_; }
  /// Penalty of all use over the allowances of soft limits, beyond the prices that are paid.
  [[nodiscard]] double surcharges() const;
  /// Value lost per 1000 units over a limit, less the price that is paid for them anyway.
  [[nodiscard]] double rate(std::size_t limit) const;

  /// Amount that the placement uses of one limit.
  [[nodiscard]] std::int64_t amount(std::size_t limit, const model::JobPlacement& placed) const;
  /// Amounts that the placement uses, by ascending limit, without zeros. O(quotas + tasks log
  /// tasks).
  [[nodiscard]] std::vector<LimitAmount> amounts(const model::JobPlacement& placed) const;

 private:
  void count(const model::JobPlacement& placed, int sign);

  const model::Cluster* cluster_;
  model::WorkloadView workload_;
  const CouplingLimits* limits_;  ///< null: no limits
  bool limits_resources_ = false;
  std::vector<std::int64_t> use_, allowance_;
};

/// What limits on resources leave to the tasks of one job while they are placed one by one, racks
/// and pods filling up.
class TaskAllowances {
 public:
  /// @param usage  null: there are no limits
  explicit TaskAllowances(const LimitUsage* usage);

  /// The limits of the machine's rack and pod leave enough for one more task of the shape.
  [[nodiscard]] bool allow(MachineId machine, const model::Shape& shape) const;
  void take(MachineId machine, const model::Shape& shape);

 private:
  [[nodiscard]] std::int64_t taken(std::size_t limit) const;

  const LimitUsage* usage_;              ///< null: no limit on a resource
  std::vector<LimitAmount> taken_ = {};  ///< by the job so far; each limit once
};

}  // namespace berth::planner_model
