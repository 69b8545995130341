// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "prove.hpp"
#include "round.hpp"

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {

/// Another plan from the relaxation of `solution`: assignment, local plans and rounds with these
/// options, without checkpoints and lines of progress. Collective.
/// @return of the jobs at home on this rank
model::Placement plan_again(const PlanningContext& context, PlanOptions options,
                            coordinator::JobRecords& records, LocalSolution& solution,
                            const Proof& proof);

}  // namespace berth::pipeline
