// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"
#include "work_budget.hpp"

#include <span>

namespace berth::solver {

/// Packs machines with idle GPUs anew, one by one, from their own tasks and the open jobs, and
/// keeps contents of larger value; then fills unused machines. While required jobs are open, also
/// machines without idle GPUs are packed anew. Edits `residual` and `usage`. Returns the gain
/// (scaled value).
double reoptimise_machines(const PackingProblem& problem, ResidualProblem& residual, Usage& usage,
                           WorkBudget& budget);

/// Fills unused machines one by one, bin types in the order of `bins`, each with the best content
/// made of open jobs. Subtracts the contents from `residual`.
Usage fill_in_order(const PackingProblem& problem, ResidualProblem& residual,
                    std::span<const std::size_t> bins, WorkBudget& budget);

}  // namespace berth::solver
