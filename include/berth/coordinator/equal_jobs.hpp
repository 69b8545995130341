// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::coordinator {

/// Equal jobs (`planner_model::JobClass`) take each other's places until those with precedence are
/// placed, and first where the value is most. Shards and searches may have placed any of them: no
/// exchange of equal jobs gains. Value and loads of quotas, uplinks and machines stay; running jobs
/// do too.
///
/// Collective. Jobs meet by class on one rank (72 B each), and only places that change hands
/// travel.
/// @param here  placements of the jobs at home on this rank, ascending; so afterwards
void serve_equal_jobs(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                      const JobRecords& records, model::Placement& here);

}  // namespace berth::coordinator
