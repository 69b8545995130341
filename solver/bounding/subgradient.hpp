// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/solver/job_prices.hpp"

namespace berth::solver::bounding {

/// What a job's price may be.
enum class PriceSign : std::uint8_t {
  positive,  ///< >= 0: the job may be left out
  any,       ///< it has to be placed
  none,      ///< it is unplaced and pays nothing
};

constexpr double kMaxTargetGap =
    0.01;  ///< of the bound: a target out of reach makes steps too long

/// Deflected subgradient method: steps against 1 - (times chosen), with memory of the last
/// direction (Camerini, Fratta and Maffioli 1975) and Polyak's step length (1969). Sizes are the
/// metric: a wrong price per GPU is wrong for each job in proportion to its GPUs.
class SubgradientMethod {
 public:
  /// @param signs  by position; must outlive this
  /// @param sizes  by position: GPUs; prices move in proportion to them
  SubgradientMethod(std::span<const double> start, std::span<const PriceSign> signs,
                    std::span<const std::int32_t> sizes, const JobPriceOptions& options);

  [[nodiscard]] std::span<const double> prices() const { return prices_; }
  [[nodiscard]] double step() const { return step_; }

  void shrink_when_stalled(bool better);

  /// False when there is no direction left to go.
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
