// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/horizon/time.hpp"

namespace berth::solver::horizon_plan {

using berth::horizon::Gpus;
using berth::horizon::Seconds;

/// Nodes of the intervals on which prices are linear; shared by all curves.
/// nodes: ascending, at least two.
using PriceGrid = std::vector<Seconds>;

/// The price lambda(t) of a GPU for a second at t: linear on each interval of the grid, may jump at
/// nodes, 0 after the last one. Lambda is its integral from the first node.
///
/// Intervals are counted 0 .. K - 1; interval K is [last node, infinity). Times are whole seconds
/// in doubles, hence exact.
class PriceCurve {
 public:
  /// @param ends  size 2 K: price at the start and before the end of each interval, >= 0
  PriceCurve(const PriceGrid& grid, std::span<const double> ends) {
    const std::size_t count = grid.size() - 1;
    pieces_.reserve(count + 1);
    double prefix = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
      const double length = static_cast<double>(grid[k + 1] - grid[k]);
      const double slope = (ends[2 * k + 1] - ends[2 * k]) / length;
      pieces_.push_back({static_cast<double>(grid[k]), ends[2 * k], slope, prefix});
      prefix += 0.5 * (ends[2 * k] + ends[2 * k + 1]) * length;
    }
    pieces_.push_back({static_cast<double>(grid[count]), 0.0, 0.0, prefix});
  }

  /// amount x curve
  struct Part {
    const PriceCurve* curve;
    double amount;
  };
  /// The sum of curves on one grid. @param parts  at least one. O(parts x K).
  static PriceCurve sum(std::span<const Part> parts) {
    PriceCurve result(*parts.front().curve);
    for (std::size_t k = 0; k < result.pieces_.size(); ++k) {
      Piece& piece = result.pieces_[k];
      piece = {piece.node, 0.0, 0.0, 0.0};
      for (const Part& part : parts) {
        const Piece& of = part.curve->pieces_[k];
        piece.start += part.amount * of.start;
        piece.slope += part.amount * of.slope;
        piece.prefix += part.amount * of.prefix;
      }
    }
    return result;
  }

  [[nodiscard]] std::size_t intervals() const { return pieces_.size() - 1; }

  /// Interval with node <= t < next node; the first one for earlier t. O(log K).
  [[nodiscard]] std::size_t interval_of(double t) const {
    const auto after = std::ranges::upper_bound(pieces_, t, {}, &Piece::node);
    return after == pieces_.begin() ? 0 : static_cast<std::size_t>(after - pieces_.begin()) - 1;
  }
  [[nodiscard]] double end_of(std::size_t interval) const {
    return interval + 1 < pieces_.size() ? pieces_[interval + 1].node : kInfinity;
  }
  [[nodiscard]] double start_of(std::size_t interval) const { return pieces_[interval].node; }
  [[nodiscard]] double slope(std::size_t interval) const { return pieces_[interval].slope; }

  /// lambda(t) and Lambda(t) for t in the closed interval.
  [[nodiscard]] double price(std::size_t interval, double t) const {
    const Piece& p = pieces_[interval];
    return p.start + p.slope * (t - p.node);
  }
  [[nodiscard]] double integral(std::size_t interval, double t) const {
    const Piece& p = pieces_[interval];
    const double u = t - p.node;
    return p.prefix + u * (p.start + 0.5 * p.slope * u);
  }

  /// Rent of one GPU in [from, to). O(log K).
  [[nodiscard]] double rent(double from, double to) const {
    return integral(interval_of(to), to) - integral(interval_of(from), from);
  }

 private:
  struct Piece {
    double node;
    double start;   ///< price at the node
    double slope;   ///< per second
    double prefix;  ///< Lambda at the node
  };
  std::vector<Piece> pieces_;
};

}  // namespace berth::solver::horizon_plan
