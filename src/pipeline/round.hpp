// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "relax.hpp"

#include "berth/coordinator/assign.hpp"
#include "berth/coordinator/checkpoint.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/coordinator/plan_shards.hpp"

namespace berth::pipeline {

/// Prices, and shards with their local plans: the start of the rounds.
struct LocalSolution {
  GlobalRelaxation relaxation;
  coordinator::LocalPlans local;
  coordinator::RoundState rounds;
};

/// Local plan of each shard for the jobs assigned to it, within the limits. Collective.
LocalSolution round(const PlanningContext& context, coordinator::JobRecords& records,
                    GlobalRelaxation relaxation, coordinator::Assignment assignment);

/// Settings of every shard.
coordinator::ShardSettings shard_settings(const PlanningContext& context,
                                          const GlobalRelaxation& relaxation);

}  // namespace berth::pipeline
