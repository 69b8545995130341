// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// Costs by completion, as Problem::cost_of: non-decreasing, the first piece holds before it too.
using CostTable = std::vector<berth::horizon::CostPiece>;

/// As a function of the start instead of the completion.
CostTable by_start(std::span<const berth::horizon::CostPiece> cost,
                   berth::horizon::Seconds duration);

CostTable scaled(CostTable table, double factor);

/// a + b. O(pieces).
CostTable sum(const CostTable& a, const CostTable& b);

/// Not above any of the tables after `from`, non-decreasing; the least of them where it is linear
/// between their breakpoints. @param tables  at least one. O(tables x pieces).
CostTable least_of(std::span<const CostTable> tables, berth::horizon::Seconds from);

/// The table at max(t, time). @pre time is not before the first piece
CostTable constant_until(const CostTable& table, berth::horizon::Seconds time);

/// The least of a - b from `from` on. @pre a rises no slower than b in the end
double least_difference(const CostTable& a, const CostTable& b, berth::horizon::Seconds from);

}  // namespace berth::solver::horizon_plan
