// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"

#include <span>
#include <vector>

namespace berth::solver {

/// Fills one empty machine of bin type `bin`: job types in `order`, as many tasks of each as fit
/// and are open; shares on the fullest device (best fit). O((order + tasks) x devices).
MachinePattern fill_machine(const PackingProblem& problem, std::size_t bin,
                            const ResidualProblem& residual, std::span<const std::int32_t> order);

/// First columns of the master: machines of one bin type after the other, filled with large tasks
/// first until no job is open; with many job types balanced ones for the most valuable tasks; and
/// for each job type and bin type one machine that starts with that job type.
std::vector<MachinePattern> initial_patterns(const PackingProblem& problem,
                                             const ResidualProblem& residual);

}  // namespace berth::solver
