// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/policy/state.hpp"

namespace berth::policy {

/// When and where a waiting job is expected to start: the first moment at which enough running jobs
/// have ended (the shadow time of EASY), and devices that are free then.
struct Shadow {
  Micros time = kNever;
  std::vector<model::TaskPlacement> tasks = {};
};

/// @param types  on which the job may start, the preferred one first
/// O(running x (log running + placement))
Shadow shadow_of(const State& state, JobId head, std::span<const GpuTypeId> types);

}  // namespace berth::policy
