// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// Fills one machine of the bin type: types in the given order, as many tasks of each as fit and
/// are open; shares on the fullest device. O(order x devices + tasks x devices).
MachinePattern fill_machine(const PackingProblem& problem, std::size_t bin,
                            const ResidualProblem& residual, std::span<const std::int32_t> order);

/// First columns: machines filled one kind after the other, large tasks first, until the jobs run
/// out; and for each type and bin type one machine that starts with that type.
std::vector<MachinePattern> initial_patterns(const PackingProblem& problem,
                                             const ResidualProblem& residual);

}  // namespace berth::solver
