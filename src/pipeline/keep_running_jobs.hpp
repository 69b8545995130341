// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"
#include "planning_context.hpp"
#include "prove.hpp"
#include "round.hpp"

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"

namespace berth::pipeline {

/// Where jobs run that may move, plans again with all of them kept in their places at first, and
/// keeps the better plan. Shards choose the better start before the rounds, which may gain more on
/// the other one (docs/decisions/0029). Not in large clusters, at the gap asked for or when a stop
/// is requested. Collective.
void keep_running_jobs(const PlanningContext& context, coordinator::JobRecords& records,
                       const DistributedJudge& judge, LocalSolution& solution, const Proof& proof,
                       model::Placement& placement);

}  // namespace berth::pipeline
