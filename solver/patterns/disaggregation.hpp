// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packing_problem.hpp"

#include <span>

namespace berth::solver {

/// Job types may hold jobs of unequal value, valued at their mean. Where the prices say that some
/// of them are worth their place and others are not, the type is split there: the better part
/// keeps its index, the other one is appended, so that patterns stay valid. The types that lose
/// most by their mean come first, at most `budget` of them.
struct Disaggregation {
  int types = 0;      ///< split
  double loss = 0.0;  ///< what the means made the relaxation's bound too small by, scaled
};
Disaggregation disaggregate(PackingProblem& problem, const planner_model::Valuation& valuation,
                            std::span<const double> type_price, int budget);

}  // namespace berth::solver
