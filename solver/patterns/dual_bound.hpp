// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "column_generation.hpp"

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/solver/occupancy.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {

using ScaledPrices = std::map<std::pair<ShapeId, std::size_t>, double>;  ///< (shape, slot)

/// Slots of the bin types that hold a task of the type, ascending.
std::vector<std::size_t> slots_that_fit(const PackingProblem& problem, const JobType& type);
ScaledPrices scaled_prices(const PackingProblem& problem, std::span<const double> type_price);

/// Price of a task by shape and GPU type, in units of the objective: the largest value less job
/// price over the job types of that shape.
std::vector<TaskPrice> task_prices(const PackingProblem& problem,
                                   std::span<const double> type_price);

/// By GPU type: least earnings of one GPU of an empty machine at a relaxation's prices; infinity
/// where no machine of the type is empty. In units of the objective.
/// @param bin_earnings  by bin type: `Relaxation::worth`
/// @param types         number of GPU types
std::vector<double> gpu_worth(const PackingProblem& problem, std::span<const double> bin_earnings,
                              std::size_t types);

/// The Lagrangian bound (Geoffrion 1974) at the relaxation's prices, in units of the objective:
/// earnings of the machines plus the best profit of each job, max_k (u_jk - pi_k), 0 at least. The
/// profit is taken job by job, because a type may hold unequal values. A required job that is
/// placed counts with its profit even if that is negative.
double lagrangian_bound(const PackingProblem& problem, const Relaxation& relaxation,
                        const Occupancy& occupancy);

/// Upper bound of all placements without required jobs: every GPU earns `problem.clearing`, every
/// task its value less that of its GPUs, or nothing. In units of the objective. O(tasks x slots)
double clearing_bound(const PackingProblem& problem, const planner_model::Valuation& valuation);

/// The prices of that bound, as task_prices.
std::vector<TaskPrice> clearing_prices(const PackingProblem& problem);

}  // namespace berth::solver
