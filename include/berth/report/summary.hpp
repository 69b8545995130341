// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "berth/model/cluster.hpp"
#include "berth/model/plan.hpp"

namespace berth::report {

/// What there is to plan for.
struct PlanRoom {
  std::int64_t gpu_milli = -1;  ///< of machines that are up, beside what no plan moves; -1: all
  std::int64_t pinned = 0;      ///< jobs that no plan moves
};

/// O(machines + pinned jobs)
PlanRoom plan_room(const model::Cluster& cluster, std::int64_t pinned);

/// "32.00 of 40 allocated (80.00 %), of 48 in all", without the end where all are to plan.
std::string gpus_text(const model::Figures& figures, const PlanRoom& room);
/// "3 of 4 placed; 2 more pinned"
std::string jobs_text(const model::Figures& figures, const PlanRoom& room);

/// The final figures of a plan as text, several lines, ends with a newline.
/// @param plan     its jobs are not read
/// @param waiting  number of unplaced jobs by reason
std::string summary(const model::Plan& plan, const std::map<std::string, std::int64_t>& waiting,
                    const PlanRoom& room = {});

/// The reasons for waiting, most frequent first, a line each; from the 13th on they are counted
/// together.
std::string waiting_lines(const std::map<std::string, std::int64_t>& waiting);

/// What a plan is made of and by.
struct PlanOrigin {
  std::string program;  ///< with its version
  int ranks = 1;
  int threads = 1;             ///< of a rank
  std::int64_t jobs = 0;       ///< to plan
  std::int64_t gpu_milli = 0;  ///< that they ask for
  std::int64_t running = 0;    ///< of them
  std::int64_t pinned = 0;     ///< other jobs, that no plan moves
};

/// The head of the figures: program, cluster with its GPUs by type and those on machines that are
/// not up or busy with what no plan moves, jobs with their load on the rest. O(machines)
std::string heading(const model::Cluster& cluster, const PlanOrigin& origin);

/// One line for each class of a plan by priority: value, bound, gap, jobs. Empty without classes.
std::string class_lines(std::span<const model::PriorityClass> classes);

/// Objective as a number with its unit: "123456.7" or "6204123 GPU milli (99.88 % of all GPUs)".
std::string objective_text(const model::Figures& figures, model::Objective kind);

/// "0.1424 %: proved, no plan is better by more".
std::string proved_gap(double gap);

/// The parts of the gap, in per cent of it: one line each for regret by size of job, idle capacity
/// by GPU type, quotas, uplinks and rounding; parts below 0.05 % of the gap are left out. Some
/// may exceed the gap, then others are negative, which the last line says. Empty without a gap.
std::string gap_text(const model::GapParts& parts, const model::Figures& figures);

}  // namespace berth::report
