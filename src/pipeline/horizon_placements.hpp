// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_problem.hpp"

#include "berth/horizon/plan.hpp"
#include "berth/model/horizon_plan.hpp"

namespace berth::pipeline {

/// Writes jobs into `plan`: running ones, the placements of `found` (that start within the horizon,
/// when values are maximised), and the others with the reason why they wait.
void add_jobs(const model::InstanceView& instance, const HorizonProblem& translated,
              const horizon::Plan& found, model::HorizonPlan& plan);

}  // namespace berth::pipeline
