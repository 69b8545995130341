// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"
#include "work_budget.hpp"

#include <span>

namespace berth::solver {

/// Packs machines with idle GPUs anew, one by one, with their own tasks and the jobs still open,
/// and keeps what is worth more; then machines that are not used at all. While required jobs are
/// open, every kind of machine is looked at. Edits both. Returns the gain (scaled).
double reoptimise_machines(const PackingProblem& problem, ResidualProblem& residual, Usage& usage,
                           WorkBudget& budget);

/// Fills machines without content one by one, bin types in this order, each with the best content
/// out of the open jobs. Takes them out of `residual`.
Usage fill_in_order(const PackingProblem& problem, ResidualProblem& residual,
                    std::span<const std::size_t> bins, WorkBudget& budget);

}  // namespace berth::solver
