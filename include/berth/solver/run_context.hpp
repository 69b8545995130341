// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/base/stop.hpp"
#include "berth/planner_model/limit_usage.hpp"

namespace berth::solver {

/// Certified gap, a fraction, at which a plan is good enough unless something else is asked for.
inline constexpr double kUsualGap = 1e-4;

/// What is live while a plan is made. Searches get it beside their options, which are plain values
/// that can be written to a file.
struct RunContext {
  double gap = kUsualGap;  ///< of the whole plan, a fraction
  std::uint64_t seed = 0;  ///< key of every random draw
  StopToken stop = {};     ///< ends every search; what was found so far stays
  const planner_model::CouplingLimits* limits =
      nullptr;  ///< quotas and uplinks to keep; null: there are none
};

}  // namespace berth::solver
