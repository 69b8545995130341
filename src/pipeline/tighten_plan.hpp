// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"
#include "planning_context.hpp"
#include "prove.hpp"
#include "round.hpp"

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"

namespace berth::pipeline {

/// Tightens proof and plan from both sides if the gap is too large and the options have steps,
/// optional resources matter or the instance is small; moves all jobs and the whole placement to
/// rank 0 for that. Collective.
void tighten(const PlanningContext& context, coordinator::JobRecords& records,
             const DistributedJudge& judge, const LocalSolution& solution, Proof& proof,
             model::Placement& placement);

}  // namespace berth::pipeline
