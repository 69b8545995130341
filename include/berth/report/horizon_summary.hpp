// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "berth/model/horizon_plan.hpp"

namespace berth::report {

/// Objective, bound, gap and numbers of jobs of a plan in time as text, several lines, ends with a
/// newline.
std::string horizon_figures(const model::HorizonFigures& figures,
                            model::HorizonObjective objective);

/// The figures, the commonest reasons for waiting and the digest.
std::string horizon_summary(const model::HorizonPlan& plan);

}  // namespace berth::report
