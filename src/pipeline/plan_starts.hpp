// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_problem.hpp"

#include "berth/horizon/plan.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// The starts of a valid plan file as starts of the problem's jobs, with their shares and lanes.
/// Its other jobs run: the problem has them as outages. O(plan log machines + jobs)
horizon::Plan plan_starts(const model::InstanceView& instance, const HorizonProblem& translated,
                          const model::RawHorizonPlan& raw);

}  // namespace berth::pipeline
