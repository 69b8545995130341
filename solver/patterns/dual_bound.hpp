// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "column_generation.hpp"

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/model/placement.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {

using ScaledPrices = std::map<std::pair<ShapeId, std::size_t>, double>;  ///< (shape, slot)

/// Slots where the type fits some machine, ascending.
std::vector<std::size_t> slots_that_fit(const PackingProblem& problem, const JobType& type);
ScaledPrices scaled_prices(const PackingProblem& problem, std::span<const double> type_price);

/// Price of a task by shape and GPU type: what its best job type there would keep after its own.
/// In units of the objective.
std::vector<TaskPrice> task_prices(const PackingProblem& problem,
                                   std::span<const double> type_price);

/// What a GPU of an empty machine earns at a relaxation's prices where it earns least, by GPU type;
/// infinity where no machine of the type is empty.
std::vector<double> gpu_worth(const PackingProblem& problem, std::span<const double> bin_earnings,
                              std::size_t types);

/// The Lagrangian bound (Geoffrion 1974) that these prices prove, job by job (types may be
/// aggregates of unequal values): machines' earnings + what each job keeps at best; required jobs
/// that are placed count even when they keep less than nothing. In units of the objective.
double lagrangian_bound(const PackingProblem& problem, const planner_model::Valuation& valuation,
                        const Relaxation& relaxation, const model::Placement& placed);

}  // namespace berth::solver
