// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"

#include "berth/pipeline/checkpoint.hpp"

namespace berth::pipeline {

/// Refuses a checkpoint that names jobs, machines, shards, pools or devices that do not exist here:
/// its digest is right, but no run wrote it. O(placements). @throws InputError naming the file
void expect_known_ids(const PlanningContext& context, const Checkpoint& checkpoint);
void expect_known_ids(const PlanningContext& context, const coordinator::ShardContents& contents);
void expect_known_ids(const PlanningContext& context, const model::Placement& placement);

}  // namespace berth::pipeline
