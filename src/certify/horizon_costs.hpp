// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_prices.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::certify {

/// By completion, in units of 2^-kPriceFractionBits: non-decreasing, the first piece holds before
/// it too.
using IntegerCosts = std::vector<IntegerCost>;

/// Costs of all options, rounded down, after jobs bear shares of the costs of those that wait for
/// them.
///
/// *Valid for any shares of 0 .. 1, one a job.* Let b wait for a, f_k the
/// non-decreasing cost of b's options of durations d_k, and g(t) the least f_k(t + d_k). b starts
/// at S_b >= C_a, and no earlier than its release r, so it costs f_k(S_b + d_k) >= g(S_b) + c_k >=
/// g(max(C_a, r)) + c_k, with c_k the least f_k(t + d_k) - g(t). So b's cost is at least (1 - s)
/// f_k + s c_k, which b is charged, plus s g(max(C_a, r)), which a bears, and passes on with its
/// own. A job that may be left out costs 0 then, which is no less than s g where costs are <= 0.
class HorizonCosts {
 public:
  /// @param counts  by job: 0 for those that count on neither side, and pass nothing on; or empty
  /// @throws InputError when shares are not of dependencies of the problem, two of a job, not of
  ///         0 .. 1, pass costs > 0 to a job that may be left out, or make too many pieces
  HorizonCosts(const horizon::Problem& problem, std::span<const horizon::CostShare> shares,
               std::span<const std::uint8_t> counts);

  /// @param option  in Problem::options
  [[nodiscard]] std::span<const IntegerCost> of(std::size_t option) const { return costs_[option]; }

 private:
  void pass_all(std::span<const horizon::CostShare> shares, std::span<const std::uint8_t> counts);
  void pass(const horizon::CostShare& share);
  [[nodiscard]] horizon::Seconds earliest_end(const horizon::Job& job) const;

  const horizon::Problem& problem_;
  std::vector<IntegerCosts> costs_;  ///< by option
  std::size_t pieces_ = 0;           ///< that shares have added
};

}  // namespace berth::certify
