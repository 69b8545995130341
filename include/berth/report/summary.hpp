// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "berth/model/plan.hpp"

namespace berth::report {

/// The final figures of a plan as people read them, several lines, ends with a newline.
/// @param plan     its jobs are not looked at
/// @param waiting  how many jobs wait, by reason
std::string summary(const model::Plan& plan, const std::map<std::string, std::int64_t>& waiting);

/// Objective as a number with its unit: "123456.7" or "6204123 GPU milli (99.88 % of all GPUs)".
std::string objective_text(const model::Figures& figures, model::Objective kind);

/// Where the gap lies, in per cent of it: a line each for regret by size of job, idle capacity by
/// GPU type, quotas, uplinks and rounding, as far as 0.05 % of the gap is there. Empty without a
/// gap.
std::string gap_text(const model::GapParts& parts, const model::Figures& figures);

}  // namespace berth::report
