// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"
#include "planning_context.hpp"
#include "prove.hpp"
#include "round.hpp"

#include <span>

#include "berth/base/strong_id.hpp"

namespace berth::pipeline {

/// True when searches over all placements take instances of this size.
bool is_small(const PlanningContext& context);

/// The judge of this plan. Collective.
/// @param home  jobs at home on this rank; kept by reference
DistributedJudge judge_of(const PlanningContext& context, std::span<const JobId> home);

/// The lowest bound that the prices found so far prove. Collective.
Proof bound(const PlanningContext& context, const DistributedJudge& judge,
            const LocalSolution& solution);

}  // namespace berth::pipeline
