// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning_context.hpp"
#include "prove.hpp"

#include <span>

#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"

namespace berth::pipeline {

/// The plan with its certificate and the judge's figures. Each rank has the placements and waiting
/// jobs of its home jobs, rank 0 all the rest. Collective.
/// @param prices     by PoolId, per GPU: for the reasons of waiting jobs
/// @param placement  of the jobs at home on this rank
model::Plan certify_plan(const PlanningContext& context, coordinator::JobRecords& records,
                         std::span<const double> prices, Proof proof, model::Placement placement);

}  // namespace berth::pipeline
