// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packing_problem.hpp"

#include <span>

namespace berth::solver {

struct Disaggregation {
  int types = 0;      ///< job types split
  double loss = 0.0;  ///< how much too small the means made the relaxation's bound, scaled
};

/// Splits job types of unequal values, which are valued at their mean (Rogers, Plante, Wong and
/// Evans 1991): a type is split where some of its jobs have positive profit at `type_price` and
/// others do not. The jobs with profit keep the type's index and the others form an appended type,
/// so existing patterns stay valid. Splits at most `budget` types, those of largest loss first.
Disaggregation disaggregate(PackingProblem& problem, const planner_model::Valuation& valuation,
                            std::span<const double> type_price, int budget);

}  // namespace berth::solver
