// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"
#include "planning_context.hpp"
#include "prove.hpp"
#include "round.hpp"

#include <compare>
#include <cstdint>

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {

/// What decides between two plans of one instance: number of placed required jobs, then objective.
struct Score {
  std::int64_t required = 0;
  double objective = 0.0;
  auto operator<=>(const Score&) const = default;
};

/// Equal on all ranks. Collective. @param placement  of this rank's jobs
Score score(const PlanningContext& context, const DistributedJudge& judge,
            const model::Placement& placement);

/// Another plan from the relaxation of `solution`: assignment, local plans and rounds with these
/// options, without checkpoints and lines of progress. Collective.
/// @return of the jobs at home on this rank
model::Placement plan_again(const PlanningContext& context, PlanOptions options,
                            coordinator::JobRecords& records, LocalSolution& solution,
                            const Proof& proof);

}  // namespace berth::pipeline
