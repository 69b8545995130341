// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::certify {

/// Rents of gangs by size, in 1 / kRentUnit of a GPU.
///
/// *Valid for any factors >= 0.* A gang of n GPUs holds floor(n / s) gangs of s GPUs, for each size
/// s, and pays the most that these would. So what runs in a pool at a time pays no more than the
/// best fill of its free GPUs with gangs of the sizes, an unbounded knapsack.
class GangSizes {
 public:
  static constexpr std::int64_t kMostGpus = 1024;  ///< that one GPU of a gang may pay for

  /// @throws InputError when a size or factor is unusable or given twice, or when options pay for
  /// other than their GPUs: the worth of a pool is then not that of its GPUs
  GangSizes(const horizon::Problem& problem, std::span<const horizon::SizeFactor> sizes);

  [[nodiscard]] bool any() const {
    return std::ranges::any_of(sizes_, [](const auto& of_curve) { return !of_curve.empty(); });
  }
  /// False: jobs on the curve pay what their options say.
  [[nodiscard]] bool given(std::size_t curve) const { return !sizes_[curve].empty(); }
  [[nodiscard]] std::int64_t rent(std::size_t curve, horizon::Gpus gpus) const;
  /// Of the best fill of so many GPUs.
  [[nodiscard]] std::int64_t worth(std::size_t curve, horizon::Gpus gpus) const;

 private:
  void fill(std::size_t curve, horizon::Gpus gpus);

  std::vector<std::vector<horizon::SizeFactor>> sizes_;  ///< by curve
  std::vector<std::vector<std::int64_t>> worth_;         ///< by curve and GPUs
};

/// True when every option pays for its GPUs: the worth of a pool is then that of its GPUs.
bool pay_for_gpus(const horizon::Problem& problem);

/// GPUs of a pool's machines over time that outages leave; where tasks have shares those of its
/// worth, rounded up. O((machines + outages) log).
std::vector<horizon::CapacityStep> free_gpus(const horizon::Problem& problem, PoolId pool);

}  // namespace berth::certify
