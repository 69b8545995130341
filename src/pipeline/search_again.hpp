// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"

#include "berth/model/certificate.hpp"
#include "berth/model/placement.hpp"
#include "berth/solver/run_context.hpp"

namespace berth::pipeline {

/// Searches on from the plan at the prices of its proof, of machines, tasks of whole GPUs and
/// quotas: by those of the consensus the search has ended.
/// @param certificate  no job has a price of its own
/// @param placement    of all jobs that are not pinned, ascending
/// @pre the instance has the records of all jobs
/// @return the value gained
double search_again(const PlanningContext& context, const model::Certificate& certificate,
                    const solver::RunContext& run, model::Placement& placement);

/// Gangs change their GPU type, leave the plan or enter it, at the prices of its proof (decision
/// 128).
/// @param slack  value that the plan may gain by its bound
/// @return the value gained
double relocate_gangs(const PlanningContext& context, const model::Certificate& certificate,
                      double slack, const solver::RunContext& run, model::Placement& placement);

}  // namespace berth::pipeline
