// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"

#include <vector>

namespace berth::solver {

/// Contents that cover the open demand as far as the supply admits: machines are filled one after
/// the other, each with the open task that leaves the shortest vector of unused GPUs and resources
/// (norm-based greedy: Panigrahy, Talwar, Uyeda and Wieder 2011), so that tasks of much CPU and of
/// little CPU share machines. Amounts are parts of the empty machine's, weighted by the part of the
/// supply that the demand takes. Each content is used as often as demand and supply admit.
/// O(contents x tasks of a machine x job types)
Usage balanced_patterns(const PackingProblem& problem, ResidualProblem residual);

/// The residual with less demand: required tasks, then those of largest value per GPU, or for their
/// largest part of an amount of all machines where these are worth more together; as many as no
/// amount forbids.
ResidualProblem most_valuable(const PackingProblem& problem, const ResidualProblem& residual);

}  // namespace berth::solver
