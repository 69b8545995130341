// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "relax.hpp"

#include "berth/coordinator/assign.hpp"
#include "berth/coordinator/job_records.hpp"

namespace berth::pipeline {

/// Assigns every job to a shard by the relaxation's prices; gangs too large for one shard are
/// placed over several. Collective.
coordinator::Assignment assign(const PlanningContext& context, coordinator::JobRecords& records,
                               const GlobalRelaxation& relaxation);

}  // namespace berth::pipeline
