// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"
#include "work_budget.hpp"

#include <span>
#include <vector>

namespace berth::solver {

struct PatternDiveResult {
  Usage usage;
  int rounds = 0;
};

/// Diving with column generation (Sadykov et al. 2019) makes a fractional usage integral: whole
/// copies are fixed, large fractions rounded up, the rest re-solved to `tolerance` (scaled value)
/// by column generation with what is still open, until nothing is left to fix. Takes what it fixes
/// out of `residual`.
PatternDiveResult dive_patterns(const PackingProblem& problem, ResidualProblem& residual,
                                std::vector<MachinePattern> patterns, std::vector<double> usage,
                                double tolerance, WorkBudget& budget);

}  // namespace berth::solver
