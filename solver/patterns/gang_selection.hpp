// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packing_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::solver {

/// A job that gets places for all its tasks.
struct SelectedJob {
  JobId job;
  std::size_t slot = 0;  ///< slot_of the GPU type of its tasks with GPUs
};

/// Places for tasks of one job type by slot; for tasks without GPUs all in slot 0.
using PlaceCounts = std::vector<std::int64_t>;

/// Selects whole jobs for the places that a packing of their tasks has: required jobs first, then
/// by value density; then a knapsack over the last selected and the first rejected jobs of each
/// shape and GPU type uses the places that are left (core of a knapsack: Balas and Zemel 1980). All
/// tasks with GPUs of a job are on one GPU type.
///
/// @param places  by job type of the problem; job types of one shape share their places
/// @return by precedence; the selected jobs of a shape and slot use no more places than there are
std::vector<SelectedJob> select_gangs(const PackingProblem& problem,
                                      const planner_model::Valuation& valuation,
                                      const std::vector<PlaceCounts>& places);

}  // namespace berth::solver
