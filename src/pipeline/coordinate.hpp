// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "prove.hpp"
#include "round.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"

namespace berth::pipeline {

/// The placement of all jobs, distributed by home.
struct GlobalPlacement {
  model::Placement placement;  ///< of the jobs at home on this rank
  std::vector<model::RoundRecord> records;
  int rounds = 0;
  std::size_t spanning = 0;    ///< gangs over several shards
  std::int64_t most_jobs = 0;  ///< largest number of records on one rank at the end
};

/// Runs STRADS rounds from the local plans and destroys the shards. If required jobs are missing
/// then, rank 0 repairs the plan. Collective.
GlobalPlacement coordinate(const PlanningContext& context, coordinator::JobRecords& records,
                           LocalSolution& solution, const Proof& proof);

}  // namespace berth::pipeline
