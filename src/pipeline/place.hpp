// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prove.hpp"
#include "stages.hpp"
#include "start.hpp"

#include <cstddef>
#include <vector>

#include "berth/model/plan.hpp"
#include "berth/report/progress.hpp"

namespace berth::pipeline {

/// Where everybody lies.
struct Placed {
  model::Placement placement;  ///< of the jobs at home on this rank
  int rounds = 0;
  std::size_t spanning = 0;    ///< gangs over several shards
  std::int64_t most_jobs = 0;  ///< that one rank held in the end, as one of the parts
};

/// STRADS rounds over the local plans, which are gone then. Each is added to `records`. Collective.
Placed place_in_rounds(const Scene& scene, Start& start, const Proof& proof, Stages& stages,
                       report::ProgressTable& progress, std::vector<model::RoundRecord>& records);

/// Job by job, as they arrive; on rank 0. Collective.
Placed place_online(const Scene& scene, Stages& stages);

}  // namespace berth::pipeline
