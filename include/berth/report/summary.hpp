// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "berth/model/plan.hpp"

namespace berth::report {

/// The final figures of a plan as text, several lines, ends with a newline.
/// @param plan     its jobs are not read
/// @param waiting  number of unplaced jobs by reason
std::string summary(const model::Plan& plan, const std::map<std::string, std::int64_t>& waiting);

/// One line for each class of a plan by priority: value, bound, gap, jobs. Empty without classes.
std::string class_lines(std::span<const model::PriorityClass> classes);

/// Objective as a number with its unit: "123456.7" or "6204123 GPU milli (99.88 % of all GPUs)".
std::string objective_text(const model::Figures& figures, model::Objective kind);

/// The parts of the gap, in per cent of it: one line each for regret by size of job, idle capacity
/// by GPU type, quotas, uplinks and rounding; parts below 0.05 % of the gap are left out. Empty
/// without a gap.
std::string gap_text(const model::GapParts& parts, const model::Figures& figures);

}  // namespace berth::report
