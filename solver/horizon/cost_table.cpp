// SPDX-License-Identifier: Apache-2.0
#include "horizon/cost_table.hpp"

#include <algorithm>
#include <utility>

#include "berth/base/infinity.hpp"

namespace berth::solver::horizon_plan {
namespace {

using berth::horizon::CostPiece;
using berth::horizon::Seconds;

/// The piece that holds just after `t`.
const CostPiece& piece_after(const CostTable& table, Seconds t) {
  const auto next = std::ranges::upper_bound(table, t, {}, &CostPiece::after);
  return next == table.begin() ? *next : *(next - 1);
}
/// The piece that holds until `t`.
const CostPiece& piece_until(const CostTable& table, Seconds t) {
  const auto next = std::ranges::lower_bound(table, t, {}, &CostPiece::after);
  return next == table.begin() ? *next : *(next - 1);
}
double value(const CostPiece& piece, Seconds t) {
  return piece.cost + piece.slope * static_cast<double>(t - piece.after);
}

/// `from`, and the times after it at which one of the tables changes.
std::vector<Seconds> breakpoints(std::span<const CostTable> tables, Seconds from) {
  std::vector<Seconds> times{from};
  for (const CostTable& table : tables) {
    for (std::size_t i = 1; i < table.size(); ++i) {
      if (table[i].after > from) times.push_back(table[i].after);
    }
  }
  std::ranges::sort(times);
  times.erase(std::ranges::unique(times).begin(), times.end());
  return times;
}

}  // namespace

CostTable by_start(std::span<const CostPiece> cost, Seconds duration) {
  CostTable table(cost.begin(), cost.end());
  for (CostPiece& piece : table) piece.after -= duration;
  return table;
}

CostTable scaled(CostTable table, double factor) {
  for (CostPiece& piece : table) {
    piece.cost *= factor;
    piece.slope *= factor;
  }
  return table;
}

CostTable sum(const CostTable& a, const CostTable& b) {
  CostTable result;
  const CostTable both[] = {a, b};
  for (const Seconds t : breakpoints(both, a.front().after)) {
    const CostPiece& of_a = piece_after(a, t);
    const CostPiece& of_b = piece_after(b, t);
    result.push_back({t, value(of_a, t) + value(of_b, t), of_a.slope + of_b.slope});
  }
  return result;
}

CostTable least_of(std::span<const CostTable> tables, Seconds from) {
  if (tables.size() == 1) return tables.front();
  CostTable result;
  const std::vector<Seconds> times = breakpoints(tables, from);
  for (std::size_t i = 0; i < times.size(); ++i) {
    double first = kInfinity, last = kInfinity, slope = kInfinity;
    for (const CostTable& table : tables) {
      const CostPiece& piece = piece_after(table, times[i]);
      first = std::min(first, value(piece, times[i]));
      slope = std::min(slope, piece.slope);
      if (i + 1 < times.size()) last = std::min(last, value(piece, times[i + 1]));
    }
    if (i + 1 < times.size()) {  // the least is concave here: the chord is below it
      slope = std::max(0.0, (last - first) / static_cast<double>(times[i + 1] - times[i]));
    }
    result.push_back({times[i], first, slope});
  }
  return result;
}

CostTable constant_until(const CostTable& table, Seconds time) {
  const double at = value(piece_until(table, time), time);
  CostTable result{{.after = std::min(table.front().after, time - 1), .cost = at, .slope = 0.0}};
  const CostPiece& next = piece_after(table, time);
  result.push_back({time, value(next, time), next.slope});
  for (const CostPiece& piece : table) {
    if (piece.after > time) result.push_back(piece);
  }
  return result;
}

double least_difference(const CostTable& a, const CostTable& b, Seconds from) {
  double least = kInfinity;
  const CostTable both[] = {a, b};
  for (const Seconds t : breakpoints(both, from)) {
    least = std::min({least, value(piece_after(a, t), t) - value(piece_after(b, t), t),
                      value(piece_until(a, t), t) - value(piece_until(b, t), t)});
  }
  return least;
}

}  // namespace berth::solver::horizon_plan
