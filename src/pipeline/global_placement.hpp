// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_solution.hpp"
#include "prove.hpp"
#include "stages.hpp"

#include <cstddef>
#include <vector>

#include "berth/model/plan.hpp"
#include "berth/report/progress.hpp"

namespace berth::pipeline {

/// The placement of all jobs, distributed by home.
struct GlobalPlacement {
  model::Placement placement;  ///< of the jobs at home on this rank
  int rounds = 0;
  std::size_t spanning = 0;    ///< gangs over several shards
  std::int64_t most_jobs = 0;  ///< largest number of records on one rank at the end
};

/// STRADS rounds over the local plans, which are gone then. Each is added to `records`. Collective.
GlobalPlacement place_in_rounds(const PlanningContext& context, LocalSolution& solution,
                                const Proof& proof, Stages& stages, report::ProgressTable& progress,
                                std::vector<model::RoundRecord>& records);

/// Job by job, as they arrive; on rank 0. Collective.
GlobalPlacement place_online(const PlanningContext& context, Stages& stages);

}  // namespace berth::pipeline
