// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"

namespace berth::pipeline {

/// Places waiting jobs into the free room of the whole cluster until none of them fits
/// (`solver::fill_free_room`): searches by shards and by prices leave out jobs that fit into room
/// of other shards, or that are worth less than its price. Rank 0 gets the records of the jobs that
/// may fit and the content of the machines that they may use; nothing is sent if there are none.
/// Collective. O(machines x shapes) a rank.
/// @param placement  of the jobs at home on this rank, ascending; grows
void fill_free_room(const PlanningContext& context, coordinator::JobRecords& records,
                    model::Placement& placement);

}  // namespace berth::pipeline
