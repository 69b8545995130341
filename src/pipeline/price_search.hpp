// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "near_prices.hpp"

#include <vector>

#include "berth/base/stop.hpp"

namespace berth::pipeline {

/// A direction of the search: what a step of 1 adds to the premiums.
struct Direction {
  Premiums way;
  double step = 0.0;  ///< the first one; may be negative
};

/// What one search may do.
struct PatternSearch {
  JobCount count;
  int evaluations;           ///< of the bound, about
  double least_step = 1e-6;  ///< ends when all steps are shorter
};

/// Premiums of a lower bound by pattern search (Hooke and Jeeves 1961): moves along each direction
/// in turn while that lowers the bound; steps double where they do, turn round, then shrink where
/// they do not. Returns `best` where nothing is lower, and what it has when stopped.
Premiums pattern_search(const NearPrices& prices, const PatternSearch& how,
                        std::vector<Direction> ways, Premiums best, const StopToken& stop);

}  // namespace berth::pipeline
