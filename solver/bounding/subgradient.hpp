// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/solver/job_prices.hpp"

namespace berth::solver::bounding {

/// Sign of a job's price.
enum class PriceSign : std::uint8_t {
  positive,  ///< >= 0: the job may be left out
  any,       ///< the job must be placed
  none,      ///< the job is unplaced; its price is 0
};

/// Largest distance of the target as a share of the bound: a target out of reach makes steps too
/// long. Chosen, not tuned.
constexpr double kMaxTargetGap = 0.01;
/// Part of the bound: an evaluation that gains less counts as stalled. Chosen, not tuned.
constexpr double kLeastRelativeGain = 1e-7;

/// Deflected subgradient method: steps against 1 - (times chosen), with memory of the last
/// direction (Camerini, Fratta and Maffioli 1975) and Polyak's step length (1969). The metric is
/// the jobs' sizes, because errors of prices are proportional to GPUs: docs/decisions/0007.
class SubgradientMethod {
 public:
  /// @param signs  by position; must outlive this
  /// @param sizes  by position: GPUs; prices move in proportion to them
  SubgradientMethod(std::span<const double> start, std::span<const PriceSign> signs,
                    std::span<const std::int32_t> sizes, const JobPriceOptions& options);

  [[nodiscard]] std::span<const double> prices() const { return prices_; }
  [[nodiscard]] double step() const { return step_; }

  void shrink_when_stalled(bool better);

  /// Takes one step; false when the direction is zero.
  bool take_step(std::span<const std::int32_t> chosen, double above);

 private:
  const JobPriceOptions* options_;
  std::span<const PriceSign> signs_;
  std::vector<double> weights_;  ///< by position
  std::vector<double> prices_, direction_;
  double step_;
  int stalled_ = 0;
};

}  // namespace berth::solver::bounding
