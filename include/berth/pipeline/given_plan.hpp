// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/plan.hpp"

/// Plans whose placements come from elsewhere, with the bound of Berth's own plan of the instance:
/// its prices prove the same about any plan.
namespace berth::pipeline {

/// Puts these placements in place of the plan's: objective, bound, gap and digests are the judge's.
/// `stats` gets `berth_objective` and `berth_gap`, of the plan that was there. One rank.
/// @param plan       of `plan_cluster`, without priority classes
/// @param placement  ascending, none pinned; whether it keeps the rules is seen when it is written
/// @param reason     of each job that is not placed
model::Plan with_placement(const model::InstanceView& instance, model::Plan plan,
                           model::Placement placement, const std::string& reason);

/// The same of a plan in time. @param plan  of `plan_horizon`, without promises
/// @param ends  by position in `placement`
model::HorizonPlan with_placement(const model::InstanceView& instance, model::HorizonPlan plan,
                                  model::Placement placement, std::vector<std::int64_t> ends,
                                  const std::string& reason);

}  // namespace berth::pipeline
