// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"
#include "work_budget.hpp"

#include <span>
#include <vector>

namespace berth::solver {

struct PatternDiveResult {
  Usage usage;     ///< integral, canonical order
  int rounds = 0;  ///< roundings
};
/// Diving with column generation (Sadykov et al. 2019): makes a fractional usage integral. Each
/// round fixes whole copies, rounds large fractions up, and solves the residual relaxation to
/// `tolerance` (scaled value), until no pattern fits. Subtracts the fixed patterns from `residual`.
/// @param patterns, usage  a fractional solution; usage[j] copies of patterns[j]
PatternDiveResult dive_patterns(const PackingProblem& problem, ResidualProblem& residual,
                                std::vector<MachinePattern> patterns, std::vector<double> usage,
                                double tolerance, WorkBudget& budget);

}  // namespace berth::solver
