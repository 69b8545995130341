// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "relax.hpp"

#include "berth/coordinator/assign.hpp"
#include "berth/coordinator/checkpoint.hpp"
#include "berth/coordinator/plan_shards.hpp"

namespace berth::pipeline {

/// Prices, shards and their own plans, from which the rounds start.
struct LocalSolution {
  GlobalRelaxation relaxation;
  coordinator::LocalPlans local;
  coordinator::RoundState rounds;
};

/// Each shard's own plan for the jobs assigned to it, within the limits. Collective.
LocalSolution round(const PlanningContext& context, GlobalRelaxation relaxation,
                    coordinator::Assignment assignment);

/// What every shard is made with.
coordinator::ShardSettings shard_settings(const PlanningContext& context,
                                          const GlobalRelaxation& relaxation);

}  // namespace berth::pipeline
