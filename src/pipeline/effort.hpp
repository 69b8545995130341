// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coordinate.hpp"
#include "distributed_judge.hpp"
#include "planning_context.hpp"
#include "prove.hpp"
#include "round.hpp"

#include "berth/coordinator/job_records.hpp"
#include "berth/pipeline/checkpoint.hpp"

namespace berth::pipeline {

/// The plan so far, which passes improve in place.
struct PlanSoFar {
  LocalSolution& solution;
  Proof& proof;
  GlobalPlacement& placed;
};

/// Where the gap is large and the cluster is not, passes of a large neighbourhood search, with few
/// jobs after a start in one shard (decision 122); then passes 2 .. `effort`. Ends at the gap asked
/// for or when a stop is requested. Pass n is a function of the plan after pass n - 1, of n, seed
/// and options: a plan with more effort starts with all passes of one with less. A pass is a large
/// neighbourhood search or a new start from the consensus prices with another number of shards;
/// passes 2, 4, 8, .. tighten the proof with more steps. The better plan and the lower bound are
/// kept: more required jobs, or as many and a larger objective. Collective. @param done  passes of
/// a resumed run
void spend_effort(const PlanningContext& context, coordinator::JobRecords& records,
                  const DistributedJudge& judge, const PlanSoFar& plan, EffortState done);

}  // namespace berth::pipeline
