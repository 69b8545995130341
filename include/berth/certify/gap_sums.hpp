// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/gap_parts.hpp"
#include "berth/model/limit_table.hpp"

namespace berth::certify {

/// Regrets and idle capacity in a certificate's fixed point. Trivially copyable.
class GapSums {
 public:
  GapSums& operator+=(const GapSums& others);

  /// @param milli  GPU thousandths of the job
  void regret(std::int64_t milli, Int128 amount);
  /// @param type  invalid: machines without GPUs
  void idle(GpuTypeId type, Int128 amount) {
    idle_[static_cast<std::size_t>(type.value() + 1)] += amount;
  }
  void limits(model::LimitKind kind, Int128 amount) { limits_[index_of(kind)] += amount; }
  /// @param amounts  by LimitKind, each added `sign` times
  void limits(const std::array<Int128, model::kLimitKinds>& amounts, int sign) {
    for (std::size_t k = 0; k < limits_.size(); ++k) limits_[k] += sign * amounts[k];
  }
  void whole_jobs(Int128 amount) { whole_jobs_ += amount; }
  void leaves(Int128 amount) { leaves_ += amount; }

  /// @param whole  upper bound - objective
  [[nodiscard]] model::GapParts parts(const model::Cluster& cluster, model::BoundBasis basis,
                                      int scale_log2, double whole) const;

 private:
  struct RegretSum {
    std::int64_t jobs = 0;
    Int128 amount = 0;
  };

  std::array<RegretSum, 65> regret_{};  ///< by size: 0 without GPUs, k for up to 2^(k-1) GPUs
  std::array<Int128, 65> idle_{};       ///< by GPU type, machines without GPUs first
  std::array<Int128, model::kLimitKinds> limits_{};  ///< by LimitKind
  Int128 whole_jobs_ = 0;
  Int128 leaves_ = 0;
};

}  // namespace berth::certify
