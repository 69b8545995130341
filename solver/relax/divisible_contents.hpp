// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task_rows.hpp"

#include <span>

#include "berth/solver/bin_type.hpp"

namespace berth::solver {

/// True when on every machine any tasks whose GPUs add up to its free GPUs fit together: sizes
/// divide one another and the free parts of machines, every bundle with GPUs fits every machine of
/// its types, and no resource binds. Then a price of one GPU by type proves the same bound as
/// prices of tasks (divisible knapsacks: Coffman, Garey and Johnson 1987). O(bins x bundles).
bool contents_divisible(std::span<const BinType> bins, const TaskRows& rows);

}  // namespace berth::solver
