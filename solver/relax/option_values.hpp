// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task_rows.hpp"

#include <limits>
#include <span>
#include <vector>

namespace berth::solver {

/// Value of an option whose tasks no machine holds.
inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Values of the options in the LP. A required job that waits loses a reward.
struct OptionValues {
  std::vector<std::vector<double>> value;  ///< by job group and option; rewards included
  double rewards = 0.0;                    ///< of all required jobs
  double best = 0.0;                       ///< of all jobs at their best options, without rewards
};
OptionValues option_values(std::span<const model::Shape> shapes, const JobCounts& jobs,
                           const TaskRows& rows);

/// Second term of the bound: all jobs at their best options, or waiting, at prices by row; rewards
/// taken off. O(options).
double jobs_bound(const JobCounts& jobs, const OptionValues& values, const TaskRows& rows,
                  std::span<const double> price);

/// sum of tasks x price
double cost_of(const TaskRows::Entries& tasks, std::span<const double> price);

/// Rounds the values of the groups until they have at most `most` option columns in all, or as far
/// as rounding goes. Returns the binary digits left.
int round_values(JobCounts& jobs, std::size_t most);

}  // namespace berth::solver
