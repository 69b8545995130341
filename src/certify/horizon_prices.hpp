// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::certify {

/// The prices of one curve as exact integers. With the price a + b v at v seconds after the node,
/// twice the integral is 2 P + 2 a v + b v^2, an integer.
class IntegerCurve {
 public:
  /// @throws InputError when a price is negative or too large
  IntegerCurve(const horizon::PriceCertificate& certificate, std::size_t curve);
  /// amount x curve
  struct Part {
    const IntegerCurve* curve;
    Int128 amount;
  };
  /// A sum of curves on the nodes of one certificate. @param parts  at least one. O(parts x K).
  static IntegerCurve sum(std::span<const Part> parts);

  struct Interval {
    horizon::Seconds node;
    Int128 start;             ///< a
    Int128 slope;             ///< b
    Int128 doubled_integral;  ///< from the first node to this one
  };
  /// By time; the last one has price 0 and no end.
  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
  [[nodiscard]] static Int128 doubled_integral(const Interval& interval, horizon::Seconds t) {
    const Int128 v = t - interval.node;
    return interval.doubled_integral + v * (2 * interval.start + v * interval.slope);
  }
  /// O(log intervals).
  [[nodiscard]] Int128 doubled_integral(horizon::Seconds t) const;
  /// All prices are 0.
  [[nodiscard]] bool free() const { return intervals_.back().doubled_integral == 0; }

 private:
  std::vector<Interval> intervals_;
};

/// A cost in units of 2^-kPriceFractionBits.
struct IntegerCost {
  horizon::Seconds after;
  Int128 cost;
  Int128 slope;
};
enum class Rounding : std::uint8_t { down, up };
IntegerCost integer_cost(const horizon::CostPiece& piece, Rounding rounding);

/// Starts of an option.
struct StartRange {
  horizon::Seconds earliest;
  horizon::Seconds latest;  ///< kNever without a deadline
  horizon::Seconds duration;
};

/// Twice the least F of one option over all starts, with rents of `amount` x curve, in units of
/// 2^-(kPriceFractionBits + kRentBits); `none` when no start meets the deadline.
/// @param cost  of completing. O(intervals + pieces).
Int128 doubled_least_cost(const IntegerCurve::Part& rent, std::span<const IntegerCost> cost,
                          const StartRange& starts, Int128 none);

}  // namespace berth::certify
