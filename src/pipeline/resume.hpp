// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "round.hpp"

namespace berth::pipeline {

/// The solution of the checkpoint that the options name: rank 0 reads it and sends each rank the
/// contents of its shards. Collective.
LocalSolution resume(const PlanningContext& context);

}  // namespace berth::pipeline
