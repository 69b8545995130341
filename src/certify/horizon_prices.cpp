// SPDX-License-Identifier: Apache-2.0
#include "horizon_prices.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "berth/base/error.hpp"

namespace berth::certify {
namespace {

using horizon::Seconds;

constexpr std::int64_t kLargestPrice = std::int64_t{1} << 50;
constexpr Seconds kLongestSpan = Seconds{1} << 30;
constexpr double kLargestCost = 0x1p54;

void require(bool holds, const char* why) {
  if (!holds) throw InputError({}, std::string("prices of the horizon: ") + why);
}

/// x 2^bits as an integer, rounded as asked. Exact: a product with a power of two does not round.
Int128 fixed_point(double x, Rounding rounding) {
  require(std::abs(x) <= kLargestCost, "a cost is beyond 2^54");
  const double scaled = std::ldexp(x, horizon::kPriceFractionBits);
  return static_cast<Int128>(rounding == Rounding::down ? std::floor(scaled) : std::ceil(scaled));
}

}  // namespace

IntegerCurve::IntegerCurve(const horizon::PriceCertificate& certificate, std::size_t curve) {
  const std::size_t count = certificate.intervals();
  require(certificate.slopes.size() == certificate.starts.size() &&
              certificate.starts.size() >= (curve + 1) * count,
          "prices are missing");
  Int128 integral = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const Seconds node = certificate.nodes[k];
    const Seconds length = certificate.nodes[k + 1] - node;
    const std::int64_t start = certificate.starts[curve * count + k];
    const std::int64_t slope = certificate.slopes[curve * count + k];
    require(length > 0 && length <= kLongestSpan, "times do not ascend or are too long");
    require(std::abs(slope) <= kLargestPrice, "a slope is beyond 2^50");
    const Int128 end = start + static_cast<Int128>(slope) * length;
    require(start >= 0 && end >= 0, "a price is negative");
    require(start <= kLargestPrice && end <= kLargestPrice, "a price is beyond 2^50");
    intervals_.push_back({node, start, slope, integral});
    integral = doubled_integral(intervals_.back(), node + length);
  }
  const Seconds last = certificate.nodes.empty() ? 0 : certificate.nodes.back();
  intervals_.push_back({last, 0, 0, integral});
}

IntegerCurve IntegerCurve::sum(std::span<const Part> parts) {
  IntegerCurve result(*parts.front().curve);
  for (std::size_t k = 0; k < result.intervals_.size(); ++k) {
    Interval& interval = result.intervals_[k];
    interval = {interval.node, 0, 0, 0};
    for (const Part& part : parts) {
      const Interval& of = part.curve->intervals_[k];
      interval.start += part.amount * of.start;
      interval.slope += part.amount * of.slope;
      interval.doubled_integral += part.amount * of.doubled_integral;
    }
  }
  return result;
}

Int128 IntegerCurve::doubled_integral(Seconds t) const {
  const auto after = std::ranges::upper_bound(intervals_, t, {}, &Interval::node);
  return after == intervals_.begin() ? 0 : doubled_integral(*(after - 1), t);
}

IntegerCost integer_cost(const horizon::CostPiece& piece, Rounding rounding) {
  require(piece.slope >= 0.0, "a cost falls");
  return {piece.after, fixed_point(piece.cost, rounding), fixed_point(piece.slope, rounding)};
}

}  // namespace berth::certify
