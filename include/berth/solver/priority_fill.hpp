// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/base/stop.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

/// Fills a placement class by class, highest priority first: the placed jobs of the class keep
/// their places where these are still free, then its unplaced jobs are placed into the capacity
/// that no class above uses (list scheduling: Graham 1969), by `fill_idle_capacity`. So no job
/// waits while its tasks fit in place of jobs of lower classes. Required jobs come first, by class.
/// Places may overlap; jobs of the higher class then keep theirs. O(jobs (log jobs + machines))
/// @param limits     of the whole cluster, which are kept
/// @param placement  ascending job
void fill_by_priority(const planner_model::Valuation& valuation,
                      const planner_model::CouplingLimits& limits, model::Placement& placement,
                      const StopToken& stop = {});

}  // namespace berth::solver
