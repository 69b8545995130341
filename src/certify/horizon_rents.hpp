// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_costs.hpp"
#include "horizon_multiples.hpp"
#include "horizon_prices.hpp"
#include "horizon_sizes.hpp"

#include <vector>

#include "berth/base/int128.hpp"
#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::certify {

/// Fraction bits of twice a rent.
inline constexpr int kDoubledRentBits = horizon::kPriceFractionBits + horizon::kRentBits + 1;

/// More than any doubled cost: the least cost of a job that cannot run.
inline constexpr Int128 kNoStart = static_cast<Int128>(1) << 126;

/// What jobs pay and what GPUs, quotas, multiples and budgets earn at the prices of a certificate,
/// twice, in units of 2^-(kPriceFractionBits + kRentBits). Holds a reference.
class HorizonRents {
 public:
  /// @param certificate  must outlive the rents
  /// @param counts  as HorizonCosts
  /// @throws InputError when prices or shares are unusable, or so large that sums could leave 128
  ///         bits
  HorizonRents(const horizon::Problem& problem, const horizon::PriceCertificate& certificate,
               std::span<const std::uint8_t> counts = {});

  /// Twice the integral of the prices x what pools are worth, what quotas leave, and budgets.
  [[nodiscard]] Int128 doubled_capacity_cost() const;
  /// Twice the least cost of a job over its options and their curves; kNoStart when it cannot run.
  [[nodiscard]] Int128 doubled_least(const horizon::Job& job) const;

 private:
  void add_budgets(const horizon::PriceCertificate& certificate);
  void expect_small() const;
  [[nodiscard]] Int128 of_machines() const;
  [[nodiscard]] Int128 of_sizes() const;
  [[nodiscard]] Int128 of_multiples() const;
  [[nodiscard]] const IntegerCurve& curve_of_multiple(std::size_t m) const {
    return curves_[problem_.curves + problem_.quotas.size() + m];
  }
  [[nodiscard]] Int128 of_steps(const IntegerCurve& curve,
                                const std::vector<horizon::CapacityStep>& steps) const;
  [[nodiscard]] Int128 doubled_least(const horizon::Job& job, std::size_t option,
                                     std::size_t curve) const;

  const horizon::Problem& problem_;
  HorizonCosts costs_;
  GangSizes sizes_;
  GangMultiples multiples_;
  std::vector<IntegerCurve> curves_;   ///< of types, then quotas, then multiples
  std::vector<IntegerCurve> budgets_;  ///< where no time is left, 0
  std::vector<Int128> budget_prices_;
};

}  // namespace berth::certify
