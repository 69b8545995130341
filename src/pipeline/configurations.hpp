// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"

#include "berth/coordinator/consensus.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/solver/configuration_lp.hpp"

namespace berth::pipeline {

/// Solution of the configuration LP of the whole cluster with quotas and groups of limits, equal on
/// all ranks; empty where prices of GPUs are as good, and where all jobs are single tasks, which
/// the pattern LP prices. Every rank counts its home jobs by group, rank 0 adds the counts and
/// solves. Collective; the result does not depend on the number of ranks.
///
/// Messages: to rank 0 the job groups of each rank, about 100 B each; the solution to all ranks.
solver::ConfigurationSolution solve_configurations(const PlanningContext& context,
                                                   const coordinator::JobRecords& records,
                                                   const coordinator::Consensus& consensus);

}  // namespace berth::pipeline
