// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::io {

/// Text of a plan with a horizon (docs/formats.md).
std::string horizon_plan_text(const model::InstanceView& instance, const model::HorizonPlan& plan);

/// True when the text of a plan file has a horizon. @throws PlanFormatError for some texts that are
/// no JSON; the readers refuse all of them
bool has_horizon(const std::string& text, const std::string& file);

/// Reads a plan with a horizon without believing it: whether names exist and figures follow is for
/// the judge. @throws PlanFormatError with the field's path
model::RawHorizonPlan parse_horizon_plan(const std::string& text, const std::string& file);

/// The plan of this moment that a plan file contains: with a horizon, only the jobs that start now
/// are placed; without one, the plan. @throws PlanFormatError
model::RawPlan read_plan_of_now(const std::string& path);

/// All placements of a plan file with their starts.
struct PlannedStarts {
  model::RawPlan plan;
  std::optional<std::int64_t> now;  ///< second at which the plan begins; none: a plan of one moment
};

/// @throws PlanFormatError
PlannedStarts read_planned_starts(const std::string& path);

}  // namespace berth::io
