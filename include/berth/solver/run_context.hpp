// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/base/stop.hpp"
#include "berth/planner_model/limit_usage.hpp"

namespace berth::solver {

/// Default of the certified gap at which a plan is good enough; a fraction. Chosen, not tuned.
inline constexpr double kUsualGap = 1e-4;

/// Live context of a plan. Searches get it beside their options, which are plain values that can be
/// written to a file.
struct RunContext {
  double gap = kUsualGap;  ///< of the whole plan, a fraction
  std::uint64_t seed = 0;  ///< key of every random draw
  StopToken stop = {};     ///< ends every search; results so far are kept
  const planner_model::CouplingLimits* limits = nullptr;  ///< limits to keep; null: none
};

}  // namespace berth::solver
