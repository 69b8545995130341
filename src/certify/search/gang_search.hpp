// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/gang_problem.hpp"

#include <cstdint>

#include "berth/base/int128.hpp"

namespace berth::certify::search {

/// Most that gangs gain in their places (multiple knapsack problem), or an upper bound on it.
/// Depth-first branch and bound, largest gangs first. The bound of a node has any prices y_j >= 0
/// for "each gang once", and beside them each outermost place as a 0/1 knapsack of its own:
///
///   B = gain + sum_{j left} y_j + sum_q T_q(gangs left, units left)
///
/// All choices that gain more than `root bound - slack` are searched; when there is none, that is
/// the new bound and the slack grows, else the best one is the result. Exact integers; the prices
/// are found in floating point and rounded, as any prices do.
///
/// @param steps  tables looked up at most; beyond it the last bound proved
Int128 most_of_gangs(const GangProblem& problem, std::int64_t steps);

}  // namespace berth::certify::search
