// SPDX-License-Identifier: Apache-2.0
#include "horizon_prices.hpp"

#include <algorithm>
#include <span>

namespace berth::certify {
namespace {

using horizon::kNever;
using horizon::Seconds;

/// Costs have kPriceFractionBits, F has kRentBits more.
constexpr Int128 kTwice = 2 * Int128{horizon::kRentUnit};

/// F of one option on one curve, over whole seconds.
class LeastCost {
 public:
  LeastCost(const IntegerCurve::Part& rent, std::span<const IntegerCost> cost,
            const StartRange& starts)
      : intervals_(rent.curve->intervals()),
        earliest_(starts.earliest),
        latest_(starts.latest),
        duration_(starts.duration),
        amount_(rent.amount),
        pieces_(cost) {
    place(earliest_);
  }

  Int128 find(Int128 none) {
    if (earliest_ > latest_) return none;
    Int128 best = none;
    for (Seconds from = earliest_; from <= latest_; from = next_) {
      place(from);
      const bool last = start_ + 1 == intervals_.size();  // free from here on: costs only rise
      const Seconds length = last ? 0 : std::min(next_ - 1, latest_) - from;
      const Int128 least_left = std::min(doubled_cost(from), doubled_later_cost());
      if (best != none && least_left >= best) return best;  // rents are >= 0
      best = std::min(best, least_on_segment(from, length));
      if (last) return std::min(best, doubled_later_cost());
    }
    return best;
  }

 private:
  /// Twice the cost of completing at from + duration, rounded down.
  [[nodiscard]] Int128 doubled_cost(Seconds from) const {
    return kTwice * (cost_.cost + cost_.slope * (from + duration_ - cost_.after));
  }

  /// Twice the least cost at which a later piece begins: not below this one's in a table without
  /// rounding errors, which the proof does not rely on.
  [[nodiscard]] Int128 doubled_later_cost() const {
    Int128 least = kTwice * cost_.cost + (static_cast<Int128>(1) << 120);
    for (std::size_t i = piece_ + 1; i < pieces_.size(); ++i) {
      least = std::min(least, kTwice * pieces_[i].cost);
    }
    return least;
  }

  /// Finds the intervals and the piece of cost at a start, and the first later start at which one
  /// of them changes.
  void place(Seconds from) {
    const Seconds completion = from + duration_;
    while (start_ + 1 < intervals_.size() && intervals_[start_ + 1].node <= from) ++start_;
    while (end_ + 1 < intervals_.size() && intervals_[end_ + 1].node <= completion) ++end_;
    while (piece_ + 1 < pieces_.size() && pieces_[piece_ + 1].after < completion) ++piece_;
    cost_ = pieces_[piece_];
    next_ = kNever;
    if (start_ + 1 < intervals_.size()) next_ = intervals_[start_ + 1].node;
    if (end_ + 1 < intervals_.size())
      next_ = std::min(next_, intervals_[end_ + 1].node - duration_);
    if (piece_ + 1 < pieces_.size()) {
      next_ = std::min(next_, pieces_[piece_ + 1].after - duration_ + 1);
    }
  }

  /// The least 2 F on from .. from + length, a quadratic first + u (linear + u quadratic).
  [[nodiscard]] Int128 least_on_segment(Seconds from, Seconds length) const {
    const auto& s = intervals_[start_];
    const auto& e = intervals_[end_];
    const Seconds completion = from + duration_;
    const Int128 first =
        doubled_cost(from) + amount_ * (IntegerCurve::doubled_integral(e, completion) -
                                        IntegerCurve::doubled_integral(s, from));
    const Int128 price_at_end = e.start + e.slope * (completion - e.node);
    const Int128 price_at_start = s.start + s.slope * (from - s.node);
    const Int128 linear = kTwice * cost_.slope + 2 * amount_ * (price_at_end - price_at_start);
    const Int128 quadratic = amount_ * (e.slope - s.slope);
    const auto at = [&](Int128 u) { return first + u * (linear + u * quadratic); };
    Int128 least = std::min(first, at(length));
    if (quadratic > 0 && linear < 0) {
      const Int128 vertex = -linear / (2 * quadratic);  // floor
      least = std::min(least, at(std::min<Int128>(vertex, length)));
      least = std::min(least, at(std::min<Int128>(vertex + 1, length)));
    }
    return least;
  }

  std::span<const IntegerCurve::Interval> intervals_;
  Seconds earliest_, latest_, duration_;
  Int128 amount_;
  std::span<const IntegerCost> pieces_;
  std::size_t start_ = 0, end_ = 0, piece_ = 0;
  IntegerCost cost_{};
  Seconds next_ = kNever;
};

}  // namespace

Int128 doubled_least_cost(const IntegerCurve::Part& rent, std::span<const IntegerCost> cost,
                          const StartRange& starts, Int128 none) {
  return LeastCost(rent, cost, starts).find(none);
}

}  // namespace berth::certify
