// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"
#include "berth/policy/state.hpp"

namespace berth::sim {

/// Waiting jobs as a problem in time over pools, one a GPU type, beside running jobs that end as
/// expected: what each is expected to need from now on, in thousandths of GPUs and seconds. Jobs
/// without GPUs are not in it.
struct PresentProblem {
  horizon::Problem problem;
  std::vector<JobId> jobs;  ///< by the problem's JobId
};

/// O(jobs x types)
PresentProblem waiting_problem(const policy::State& state, std::span<const JobId> waiting);

/// All jobs present, which may be stopped and run anywhere, taken together where they are alike
/// (JobClasses), for prices (solver::price_classes).
struct PresentClasses {
  horizon::Problem classes;  ///< a job is a class: sums, and mean durations
  horizon::Problem pieces;   ///< the same GPU-time in jobs that fit the pools
  /// Members at the least GPUs, weight and durations of their class: what prices prove of these
  /// holds for the jobs themselves. Empty unless jobs were merged.
  horizon::Problem least;
  double alone = 0.0;     ///< weighted seconds of all jobs, each alone on its fastest type
  std::int64_t jobs = 0;  ///< with GPUs
  bool merged = false;
};

/// O(jobs x types) with at most 128 classes and 512 pieces, as long as jobs differ in fewer
/// sets of allowed types.
PresentClasses present_classes(const policy::State& state, std::span<const JobId> present);

}  // namespace berth::sim
