// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coordinate.hpp"
#include "planning_context.hpp"

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/online.hpp"

namespace berth::pipeline {

/// Checks that `place_in_order` supports the instance.
/// @throws InputError naming the first queue or job that it does not support: a quota, a gang, a
/// job
///         whose value depends on its place
void expect_single_tasks(const planner_model::Valuation& valuation);

/// Places the jobs in order of arrival (ties by precedence); running jobs keep their places
/// unless a machine is being evacuated.
/// @pre expect_single_tasks(valuation)
model::Placement place_in_order(const planner_model::Valuation& valuation,
                                const solver::OnlineOptions& options,
                                const planner_model::CouplingLimits& limits, const StopToken& stop);

/// `place_in_order` of all jobs, on rank 0. Collective.
GlobalPlacement place_online(const PlanningContext& context, coordinator::JobRecords& records);

}  // namespace berth::pipeline
