// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/limit_table.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// Amounts of limits of racks and pods that a plan uses; empty: nothing.
using LimitAmounts = std::vector<Int128>;  ///< by limit, as `PlaceLimits` numbers them

/// One amount of each kind of limits.
using ByLimitKind = std::array<Int128, model::kLimitKinds>;
inline Int128 sum_of(const ByLimitKind& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), Int128{0});
}

/// The limits of racks and pods: capacity less use by immovable content, and price. Spare GPUs are
/// soft limits, all others hard.
class PlaceLimits {
 public:
  /// Use of one limit by one job.
  struct JobLimitUse {
    std::size_t limit;  ///< kind by kind, racks first, then pods
    Int128 amount;      ///< in the unit of its kind
  };

  PlaceLimits(const model::InstanceView& instance, const model::Certificate& certificate);

  /// @pre racks and pods may have limits of this kind
  [[nodiscard]] std::size_t of(model::LimitKind kind, RackId rack) const {
    return first_[index_of(kind)] + rack.index();
  }
  [[nodiscard]] std::size_t of(model::LimitKind kind, PodId pod) const {
    return first_[index_of(kind)] + racks_ + pod.index();
  }

  /// The limit of the spare GPUs in this row of Cluster::spare.
  [[nodiscard]] std::size_t of_spare(std::size_t row) const {
    return first_[index_of(model::LimitKind::spare)] + row;
  }

  /// In the unit of its kind. Empty: no limit.
  [[nodiscard]] const std::optional<std::int64_t>& capacity(std::size_t limit) const {
    return capacity_[limit];
  }
  [[nodiscard]] std::int64_t price(std::size_t limit) const { return price_[limit]; }
  /// True when crossing some uplink costs, or some uplink cannot carry a ring of this rate.
  [[nodiscard]] bool constrain_ring(std::int64_t mbps) const {
    return mbps > 0 && (uplinks_priced_ || mbps > least_uplink_);
  }
  /// False when no uplink has a price or a limit.
  [[nodiscard]] bool constrain_rings() const {
    return constrain_ring(std::numeric_limits<std::int64_t>::max());
  }
  /// Use of the limits by a job with this placement.
  [[nodiscard]] std::vector<JobLimitUse> uses(const model::Job& job,
                                              std::span<const model::TaskPlacement> tasks) const;
  /// Price of that use.
  [[nodiscard]] ByLimitKind paid(const model::Job& job,
                                 std::span<const model::TaskPlacement> tasks) const;
  /// Sum of capacity x price. @pre priced limits have a capacity
  [[nodiscard]] ByLimitKind capacity_value() const;

  /// Adds the use by these jobs.
  void add(const model::Placement& placement, LimitAmounts& used) const;
  /// Reports one fault for every limit that is exceeded.
  void report(const LimitAmounts& used, Findings& findings) const;

 private:
  void add_limits(model::LimitKind kind);
  void add_spare();
  void add_traffic(const model::Job& job, std::span<const model::TaskPlacement> tasks,
                   std::vector<JobLimitUse>& uses) const;

  model::InstanceView instance_;
  std::size_t racks_;
  std::array<std::size_t, model::kLimitKinds> first_{};  ///< by kind
  std::vector<model::LimitKind> kind_;                   ///< by limit, as all below
  std::vector<model::LimitScope> scope_;
  std::vector<std::optional<std::int64_t>> capacity_;
  std::vector<std::int64_t> price_;
  bool uplinks_priced_ = false;
  std::int64_t least_uplink_ = 0;  ///< Mbit/s
};

/// Mbit/s of the job's ring, 0 when it has none.
std::int64_t ring_of(const model::Job& job);

}  // namespace berth::certify
