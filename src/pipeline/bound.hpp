// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"
#include "planning_context.hpp"
#include "prove.hpp"
#include "round.hpp"

#include <span>

#include "berth/base/strong_id.hpp"
#include "berth/model/placement.hpp"

namespace berth::pipeline {

/// The judge of this plan. @param home  jobs at home on this rank, as they are now; kept by
/// reference. Collective.
DistributedJudge judge_of(const PlanningContext& context, std::span<const JobId> home);

/// The lowest bound that the prices found so far prove. Collective.
Proof bound(const PlanningContext& context, const DistributedJudge& judge,
            const LocalSolution& solution);

/// Replaces the proof by a tighter one where that pays: rank 0 then has all jobs and all of the
/// placement. Collective.
void tighten(const PlanningContext& context, const DistributedJudge& judge,
             const LocalSolution& solution, Proof& proof, model::Placement& placement);

}  // namespace berth::pipeline
