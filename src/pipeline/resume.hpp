// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "round.hpp"

#include "berth/coordinator/job_records.hpp"

namespace berth::pipeline {

/// The solution of the checkpoint that the options name: rank 0 reads it and sends each rank the
/// contents of its shards. Collective.
LocalSolution resume(const PlanningContext& context, coordinator::JobRecords& records);

}  // namespace berth::pipeline
