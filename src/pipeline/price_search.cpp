// SPDX-License-Identifier: Apache-2.0
#include "price_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace berth::pipeline {
namespace {

void add(const std::vector<double>& way, double step, std::vector<double>& to) {
  for (std::size_t i = 0; i < way.size(); ++i) to[i] += way[i] * step;
}

Premiums moved(Premiums premiums, const Direction& direction) {
  add(direction.way.by_type, direction.step, premiums.by_type);
  add(direction.way.by_size, direction.step, premiums.by_size);
  add(direction.way.by_gang, direction.step, premiums.by_gang);
  return premiums;
}

}  // namespace

Premiums pattern_search(const NearPrices& prices, const PatternSearch& how,
                        std::vector<Direction> ways, Premiums best, const StopToken& stop) {
  double least = prices.bound(best, how.count);
  double largest = std::numeric_limits<double>::infinity();
  for (int left = how.evaluations; left > 0 && largest > how.least_step;) {
    largest = 0.0;
    for (Direction& way : ways) {
      bool lower = false;
      for (int turn = 0; turn < 2 && !lower; ++turn, --left) {
        if (stop.requested()) return best;
        Premiums tried = moved(best, way);
        const double bound = prices.bound(tried, how.count);
        lower = bound < least;
        if (lower) best = std::move(tried), least = bound;
        way.step *= lower ? 2.0 : -1.0;
      }
      if (!lower) way.step /= 4.0;
      largest = std::max(largest, std::abs(way.step));
    }
  }
  return best;
}

}  // namespace berth::pipeline
