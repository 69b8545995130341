// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"
#include "planning_context.hpp"
#include "prove.hpp"
#include "round.hpp"

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/pipeline/checkpoint.hpp"

namespace berth::pipeline {

/// A run after its local plans, a round or a pass of effort.
struct StartedRun {
  LocalSolution solution;      ///< without shards after a pass
  EffortState effort;          ///< the same on all ranks
  model::Placement placement;  ///< after a pass: of the jobs at home on this rank
};

/// The run of the checkpoint that the options name: rank 0 reads it and sends each rank the
/// contents of its shards, or the placements of its home jobs. Collective.
StartedRun resume(const PlanningContext& context, coordinator::JobRecords& records);

/// The proof of a run after a pass. Collective. @throws InputError naming the file
Proof saved_proof(const PlanningContext& context, const DistributedJudge& judge,
                  const EffortState& effort);

}  // namespace berth::pipeline
