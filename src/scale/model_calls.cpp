// SPDX-License-Identifier: Apache-2.0
// Number, bytes and times of collectives.
#include <algorithm>
#include <cmath>

#include "berth/base/assert.hpp"
#include "berth/scale/model.hpp"

namespace berth::scale {
namespace {

/// The calls of the kind of `like` in a point, 0 when there are none.
CallCount find(const ScalingPoint& point, const CallCount& like) {
  for (const CallCount& c : point.calls) {
    if (c.stage == like.stage && c.call == like.call) return c;
  }
  return {like.stage, like.call, 0, 0};
}

/// The points measured on two or more ranks, in ascending order, one for each number of ranks.
std::vector<const ScalingPoint*> connected(std::span<const ScalingPoint> measured) {
  std::vector<const ScalingPoint*> points;
  for (const ScalingPoint& p : measured) {
    if (p.ranks > 1) points.push_back(&p);
  }
  std::ranges::sort(points, {}, &ScalingPoint::ranks);
  const auto repeated = std::ranges::unique(points, {}, &ScalingPoint::ranks);
  points.erase(repeated.begin(), repeated.end());
  return points;
}

/// Value at `ranks` of the polynomial through at most three (ranks, bytes): Lagrange's form.
std::int64_t through(std::span<const ScalingPoint* const> points, const CallCount& like,
                     int ranks) {
  long double sum = 0;
  for (const ScalingPoint* p : points) {
    auto term = static_cast<long double>(find(*p, like).bytes);
    for (const ScalingPoint* q : points) {
      if (q != p) {
        term *= static_cast<long double>(ranks - q->ranks);
        term /= static_cast<long double>(p->ranks - q->ranks);
      }
    }
    sum += term;
  }
  return std::max(std::int64_t{0}, static_cast<std::int64_t>(std::llround(sum)));
}

}  // namespace

double collective_time(comm::Call call, int ranks, double bytes, const Network& network) {
  BERTH_EXPECT(ranks >= 1);
  if (ranks == 1) return 0.0;
  const double steps = std::ceil(std::log2(static_cast<double>(ranks)));
  const double hop = network.latency + 2 * network.overhead;
  const double payload = bytes * network.gap_per_byte;
  switch (call) {
    case comm::Call::barrier:
      return steps * hop + network.polling;
    case comm::Call::broadcast:
    case comm::Call::reduce:
    case comm::Call::all_reduce:
      return steps * (hop + payload) + network.polling;
    case comm::Call::gather:
    case comm::Call::all_gather:
      return steps * hop + payload + network.polling;
    case comm::Call::all_to_all:
      return hop + (ranks - 2) * std::max(network.gap, network.overhead) + payload +
             network.polling;
  }
  return 0.0;
}

std::vector<CallCount> forecast_calls(std::span<const ScalingPoint> measured, Scaling scaling,
                                      int ranks) {
  std::vector<const ScalingPoint*> points = connected(measured);
  if (ranks <= 1 || points.empty()) return {};
  std::vector<CallCount> calls;
  if (scaling == Scaling::weak) {
    const ScalingPoint& last = *points.back();
    for (CallCount c : last.calls) {
      c.bytes = std::llround(static_cast<double>(c.bytes) * ranks / last.ranks);
      calls.push_back(std::move(c));
    }
    return calls;
  }
  points.resize(std::min<std::size_t>(points.size(), 3));
  for (const CallCount& c : points.front()->calls) {
    calls.push_back({c.stage, c.call, c.messages, through(points, c, ranks)});
  }
  return calls;
}

}  // namespace berth::scale
