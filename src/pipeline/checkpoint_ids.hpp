// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"

#include <functional>

#include "berth/pipeline/checkpoint.hpp"

namespace berth::pipeline {

/// Refuses a checkpoint that names jobs, machines, shards, pools or devices that do not exist here:
/// its digest is right, but no run wrote it. O(placements). @throws InputError naming the file
void expect_known_ids(const PlanningContext& context, const Checkpoint& checkpoint);
void expect_known_ids(const PlanningContext& context, const coordinator::ShardContents& contents);
void expect_known_ids(const PlanningContext& context, const model::Placement& placement);

/// Refuses a saved placement in which a job is placed twice, or its tasks are not those of the job.
/// Cheap: O(tasks). @param placement  ascending jobs, whose records this rank has
void expect_own_tasks(const PlanningContext& context, const model::Placement& placement);

/// Restores a part of the saved state. What contradicts itself there, a job that is placed twice or
/// devices of two jobs, is told of the file and not as an error of the program. @throws InputError
void restore_consistent(const PlanningContext& context, const std::function<void()>& restore);

}  // namespace berth::pipeline
